/* SPDX-License-Identifier: MIT */
/* The row of CUDA over the emulator against the row of the CPU: every entry gives the same bits on
 * random views of several dtypes, strides and sizes, without a race. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "adj-emulator.h"
#include "emulated-queue.h"
#include "kernel-test.h"

/* Outputs of the CPU and of CUDA. */
typedef AdjKView Twin[2];

static AdjKQueue cpu;
static EmulatedQueue cuda;

#define ON_BOTH(q, i)                                                                              \
  for (AdjKQueue *q = &cpu, *past = NULL; past == NULL;                                            \
       past = q == &cpu ? NULL : q, q = &cuda.queue)                                               \
    for (gint i = q != &cpu, once = 1; once; once = 0)

static guint32 seed;

static gboolean
is_float (AdjKType type)
{
  return adj_k_type_is_float (type);
}

/* Random elements; every third array has its dims in another order and gaps. */
static AdjKView
some_of (AdjKType type, double low, double high, gint rank, const gint *sizes)
{
  AdjKView view = { 0 };

  switch (rank)
    {
    case 0:
      view = kernel_array (type, 0);
      break;
    case 1:
      view = kernel_array (type, 1, sizes[0]);
      break;
    case 2:
      view = kernel_array (type, 2, sizes[0], sizes[1]);
      break;
    case 3:
      view = kernel_array (type, 3, sizes[0], sizes[1], sizes[2]);
      break;
    case 4:
      view = kernel_array (type, 4, sizes[0], sizes[1], sizes[2], sizes[3]);
      break;
    default:
      view = kernel_array (type, 5, sizes[0], sizes[1], sizes[2], sizes[3], sizes[4]);
      break;
    }
  kernel_array_randomize (&view, ++seed, low, high);
  return seed % 3 == 0 && adj_k_view_count (&view) > 0 ? kernel_array_scramble (&view) : view;
}

#define SOME(type, low, high, ...)                                                                 \
  some_of (type, low, high, sizeof ((gint[]){ __VA_ARGS__ }) / sizeof (gint),                      \
           (gint[]){ __VA_ARGS__ })
#define RANDOM(type, ...) SOME (type, is_float (type) ? -3 : 0, 7, __VA_ARGS__)

static AdjKView
copy_of (const AdjKView *view)
{
  AdjKView out = kernel_array_like (view->type, view);

  adj_k_copy (&out, view);
  return out;
}

/* Two arrays of the same values. */
#define TWIN(out, ...)                                                                             \
  do                                                                                               \
    {                                                                                              \
      (out)[0] = __VA_ARGS__;                                                                      \
      (out)[1] = copy_of (&(out)[0]);                                                              \
    }                                                                                              \
  while (0)

/* The same bits, a NaN being one whatever its payload. */
static void
assert_twins (const char *what, const Twin out)
{
  const char *problem = adj_emulator_take_problem ();

  if (problem != NULL)
    g_error ("%s: %s", what, problem);
  g_assert_null (cuda.queue.lacks);
  for (gint64 i = 0; i < adj_k_view_count (&out[0]); i++)
    {
      double a = kernel_array_get (&out[0], i), b = kernel_array_get (&out[1], i);

      if (memcmp (&a, &b, sizeof a) != 0 && !(isnan (a) && isnan (b)))
        g_error ("%s: type %d: element %" G_GINT64_FORMAT ": %.17g on the CPU, %.17g on CUDA", what,
                 (gint) out[0].type, i, a, b);
    }
}

static const gint lengths[] = { 0, 1, 7, 65, 1025, 4100 };

/* -- copies -- */

static void
check_copy (AdjKType type)
{
  for (AdjKType from = 0; from < ADJ_K_N; from++)
    {
      AdjKView in = RANDOM (from, 3, 5, 7);
      Twin out;

      TWIN (out, RANDOM (type, 3, 5, 7));
      ON_BOTH (q, i)
      adj_q_copy (q, &out[i], &in);
      assert_twins ("copy", out);
    }
}

static void
check_fill_f64 (AdjKType type)
{
  Twin out;

  TWIN (out, RANDOM (type, 3, 0x101));
  ON_BOTH (q, i)
  adj_q_fill_f64 (q, &out[i], 2.7);
  assert_twins ("fill_f64", out);
}

static void
check_fill_i64 (AdjKType type)
{
  Twin out;

  TWIN (out, RANDOM (type, 0, 5));
  ON_BOTH (q, i)
  adj_q_fill_i64 (q, &out[i], -3);
  TWIN (out, RANDOM (type, 2, 5));
  ON_BOTH (q, i)
  adj_q_fill_i64 (q, &out[i], -3);
  assert_twins ("fill_i64", out);
}

static void
check_iota_f64 (AdjKType type)
{
  Twin out;

  TWIN (out, RANDOM (type, 5, 9));
  ON_BOTH (q, i)
  adj_q_iota_f64 (q, &out[i], 1.5, 0.3);
  assert_twins ("iota_f64", out);
}

static void
check_iota_i64 (AdjKType type)
{
  Twin out;

  TWIN (out, RANDOM (type, 5, 9));
  ON_BOTH (q, i)
  adj_q_iota_i64 (q, &out[i], 4, -3);
  assert_twins ("iota_i64", out);
}

static void
check_tril (AdjKType type)
{
  for (gint64 diagonal = -3; diagonal < 5; diagonal++)
    {
      AdjKView in = RANDOM (type, 2, 5, 4);
      Twin out;

      TWIN (out, RANDOM (type, 2, 5, 4));
      ON_BOTH (q, i)
      adj_q_tril (q, &out[i], &in, diagonal);
      assert_twins ("tril", out);
    }
}

static void
check_triu (AdjKType type)
{
  for (gint64 diagonal = -3; diagonal < 5; diagonal++)
    {
      AdjKView in = RANDOM (type, 2, 5, 4);
      Twin out;

      TWIN (out, RANDOM (type, 2, 5, 4));
      ON_BOTH (q, i)
      adj_q_triu (q, &out[i], &in, diagonal);
      assert_twins ("triu", out);
    }
}

/* -- pointwise -- */

static AdjKClass
class_of (AdjKType type)
{
  return type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : is_float (type) ? ADJ_K_CLASS_F32 : ADJ_K_CLASS_I64;
}

/* Every op of the class, one after the other. */
static void
check_pointwise (AdjKType type)
{
  for (AdjKOp op = 0; op < ADJ_K_OP_N; op++)
    {
      AdjKCode code[] = {
        { .op = ADJ_K_OP_LOAD, .dst = 0, .imm.i = 0 },
        { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
        { .op = ADJ_K_OP_LOAD, .dst = 2, .imm.i = 2 },
        { .op = op, .dst = 3, .a = 0, .b = 1, .c = 2 },
      };
      AdjKProgram program = {
        .klass = class_of (type), .n_inputs = 3, .n_regs = 4, .n_code = 4, .code = code, .result = 3
      };
      AdjKView inputs[3] = { RANDOM (type, 5, 13), RANDOM (type, 5, 13), RANDOM (type, 5, 13) };
      gboolean fine[2];
      Twin out;

      if (op == ADJ_K_OP_LOAD || !adj_k_op_has_class (op, class_of (type)))
        continue;
      if (op == ADJ_K_OP_CONST)
        code[3].imm.i = 0x4008;
      inputs[1].stride[0] = 0;
      TWIN (out, RANDOM (type, 5, 13));
      ON_BOTH (q, i)
      fine[i] = adj_q_pointwise (q, &program, &out[i], inputs);
      assert_twins (adj_k_op_get_name (op), out);
      g_assert_true (fine[1]);
      g_assert_cmpint (fine[0], ==, !cuda.faults.zero_division);
      cuda.faults = ADJ_K_NO_FAULTS;
    }
}

static void
check_fused (AdjKType type)
{
  guint8 klass = class_of (type);
  const AdjKStep steps[] = {
    { .kind = ADJ_K_STEP_CONST, .klass = klass, .type = ADJ_K_I64, .dst = 3, .imm.i = 2 },
    { .kind = ADJ_K_STEP_LOAD, .klass = klass, .operand = 0, .dst = 0 },
    { .kind = ADJ_K_STEP_LOAD, .klass = klass, .operand = 1, .dst = 1 },
    { .kind = ADJ_K_STEP_OP, .klass = klass, .op = ADJ_K_OP_MUL, .dst = 2, .a = 0, .b = 1 },
    { .kind = ADJ_K_STEP_STORE, .klass = klass, .operand = 2, .a = 2 },
    { .kind = ADJ_K_STEP_CAST,
      .klass = klass,
      .to = ADJ_K_CLASS_F32,
      .type = ADJ_K_BF16,
      .dst = 4,
      .a = 2 },
    { .kind = ADJ_K_STEP_OP, .klass = ADJ_K_CLASS_F32, .op = ADJ_K_OP_TANH, .dst = 4, .a = 4 },
    { .kind = ADJ_K_STEP_STORE, .klass = ADJ_K_CLASS_F32, .operand = 3, .a = 4 },
    { .kind = ADJ_K_STEP_OP, .klass = klass, .op = ADJ_K_OP_ADD, .dst = 3, .a = 2, .b = 3 },
  };
  const AdjKFused fused = {
    .n_operands = 4, .n_regs = 5, .n_fixed = 1, .n_steps = 9, .steps = steps
  };
  AdjKView a = RANDOM (type, 3, 41), b = RANDOM (type, 3, 41);
  Twin out, other;

  b.stride[1] = 0;
  g_assert_true (adj_k_fused_check (&fused));
  TWIN (out, RANDOM (type, 3, 41));
  TWIN (other, RANDOM (ADJ_K_F16, 3, 41));
  ON_BOTH (q, i)
  {
    AdjKView operands[] = { a, b, out[i], other[i] };

    g_assert_true (adj_q_fused (q, &fused, operands));
  }
  assert_twins ("fused", out);
  assert_twins ("fused", other);
}

/* -- reductions -- */

static void
check_reduce (AdjKType type)
{
  for (AdjKReduce kind = ADJ_K_SUM; kind <= ADJ_K_NORM2; kind++)
    for (guint l = 0; l < G_N_ELEMENTS (lengths); l++)
      for (guint32 dims = 1; dims < 4; dims++)
        {
          AdjKView in = RANDOM (type, lengths[l], 3);
          Twin out;

          if (dims == 2 && lengths[l] > 100)
            continue;
          if (lengths[l] == 0 && (kind == ADJ_K_MAX || kind == ADJ_K_MIN))
            continue;
          if ((kind == ADJ_K_MEAN || kind == ADJ_K_NORM2) && !is_float (type))
            continue;
          TWIN (out, RANDOM (type, dims & 1 ? 1 : lengths[l], dims & 2 ? 1 : 3));
          ON_BOTH (q, i)
          adj_q_reduce (q, kind, &out[i], &in, dims);
          assert_twins ("reduce", out);
        }
}

static void
check_long_reduce (void)
{
  AdjKView in = RANDOM (ADJ_K_F32, 2, 150001);
  Twin out;

  TWIN (out, RANDOM (ADJ_K_F32, 2, 1));
  ON_BOTH (q, i)
  adj_q_reduce (q, ADJ_K_SUM, &out[i], &in, 2);
  assert_twins ("reduce of several chunks", out);
  in = RANDOM (ADJ_K_F64, 150001);
  TWIN (out, RANDOM (ADJ_K_F64, 1));
  ON_BOTH (q, i)
  adj_q_reduce (q, ADJ_K_MEAN, &out[i], &in, 1);
  assert_twins ("reduce of several chunks", out);
  in = RANDOM (ADJ_K_I32, 150001);
  TWIN (out, RANDOM (ADJ_K_I64, 1));
  ON_BOTH (q, i)
  adj_q_reduce (q, ADJ_K_SUM, &out[i], &in, 1);
  assert_twins ("reduce of several chunks", out);
}

static void
check_var_mean (AdjKType type)
{
  for (guint l = 1; l < G_N_ELEMENTS (lengths) && is_float (type); l++)
    {
      AdjKView in = RANDOM (type, 3, lengths[l]);
      Twin var, mean;

      TWIN (var, RANDOM (type, 3, 1));
      TWIN (mean, RANDOM (type, 3, 1));
      ON_BOTH (q, i)
      adj_q_var_mean (q, &var[i], &mean[i], &in, 2, 1);
      assert_twins ("var_mean", var);
      assert_twins ("var_mean", mean);
    }
}

static void
check_extreme (AdjKType type, gboolean smallest)
{
  for (guint l = 1; l < G_N_ELEMENTS (lengths); l++)
    {
      AdjKView in = RANDOM (type, 3, lengths[l]);
      Twin values, indices;

      if (is_float (type) && l == 3)
        kernel_array_set (&in, 70, NAN);
      TWIN (values, RANDOM (type, 3, 1));
      TWIN (indices, RANDOM (ADJ_K_I64, 3, 1));
      ON_BOTH (q, i)
      {
        if (smallest)
          adj_q_min_dim (q, &values[i], &indices[i], &in, 1);
        else
          adj_q_max_dim (q, &values[i], &indices[i], &in, 1);
      }
      assert_twins ("max_dim", values);
      assert_twins ("max_dim", indices);
    }
}

static void
check_max_dim (AdjKType type)
{
  check_extreme (type, FALSE);
}

static void
check_min_dim (AdjKType type)
{
  check_extreme (type, TRUE);
}

static void
check_cumsum (AdjKType type)
{
  AdjKView in = RANDOM (type, 5, 70, 3);
  Twin out;

  TWIN (out, RANDOM (type, 5, 70, 3));
  ON_BOTH (q, i)
  adj_q_cumsum (q, &out[i], &in, 1);
  assert_twins ("cumsum", out);
}

static void
check_cumprod (AdjKType type)
{
  AdjKView in = RANDOM (type, 5, 70, 3);
  Twin out;

  TWIN (out, RANDOM (type, 5, 70, 3));
  ON_BOTH (q, i)
  adj_q_cumprod (q, &out[i], &in, 2);
  assert_twins ("cumprod", out);
}

static void
check_sort (AdjKType type)
{
  for (gint k = 1; k < 60; k += 29)
    {
      AdjKView in = RANDOM (type, 3, 59);
      Twin values, indices;

      if (is_float (type))
        kernel_array_set (&in, 70, NAN);
      TWIN (values, RANDOM (type, 3, k));
      TWIN (indices, RANDOM (ADJ_K_I64, 3, k));
      ON_BOTH (q, i)
      g_assert_true (adj_q_sort (q, &values[i], &indices[i], &in, 1, k == 30));
      assert_twins ("sort", values);
      assert_twins ("sort", indices);
    }
}

/* -- matrix products -- */

static void
check_gemm (AdjKType type)
{
  const gint shapes[][4] = {
    { 1, 1, 1, 1 }, { 2, 17, 5, 300 }, { 3, 33, 18, 128 }, { 1, 4, 0, 3 }, { 2, 5, 4, 0 }
  };

  for (guint s = 0; s < G_N_ELEMENTS (shapes); s++)
    {
      const gint *n = shapes[s];
      AdjKView d = RANDOM (type, n[0], n[1], n[2]);
      AdjKGemm gemm = { .a = RANDOM (type, n[0], n[1], n[3]),
                        .b = RANDOM (type, n[0], n[3], n[2]),
                        .d = s % 2 ? &d : NULL,
                        .alpha = s % 2 ? 3 : 1,
                        .beta = 2 };
      Twin out;

      TWIN (out, RANDOM (type, n[0], n[1], n[2]));
      ON_BOTH (q, i)
      {
        gemm.c = out[i];
        adj_q_gemm (q, &gemm);
      }
      assert_twins ("gemm", out);
    }
}

/* -- rows -- */

typedef void (*Rows) (AdjKQueue *, const AdjKView *, const AdjKView *, int);
typedef void (*RowsBackward) (
    AdjKQueue *, const AdjKView *, const AdjKView *, const AdjKView *, int);

static void
check_rows (AdjKType type, const char *name, Rows run)
{
  for (guint l = 0; l < G_N_ELEMENTS (lengths) && is_float (type); l++)
    {
      AdjKView in = RANDOM (type, 2, lengths[l], 3);
      Twin out;

      TWIN (out, RANDOM (type, 2, lengths[l], 3));
      ON_BOTH (q, i)
      run (q, &out[i], &in, 1);
      assert_twins (name, out);
    }
}

static void
check_rows_backward (AdjKType type, const char *name, RowsBackward run)
{
  for (guint l = 0; l < G_N_ELEMENTS (lengths) && is_float (type); l++)
    {
      AdjKView g = RANDOM (type, 2, lengths[l]), y = RANDOM (type, 2, lengths[l]);
      Twin out;

      TWIN (out, RANDOM (type, 2, lengths[l]));
      ON_BOTH (q, i)
      run (q, &out[i], &g, &y, 1);
      assert_twins (name, out);
    }
}

static void
check_softmax (AdjKType type)
{
  check_rows (type, "softmax", adj_q_softmax);
}

static void
check_log_softmax (AdjKType type)
{
  check_rows (type, "log_softmax", adj_q_log_softmax);
}

static void
check_softmax_backward (AdjKType type)
{
  check_rows_backward (type, "softmax_backward", adj_q_softmax_backward);
}

static void
check_log_softmax_backward (AdjKType type)
{
  check_rows_backward (type, "log_softmax_backward", adj_q_log_softmax_backward);
}

static void
check_layer_norm (AdjKType type)
{
  AdjKView w, b;
  Twin y, mean, rstd;

  for (gint with = 0; with < 2 && is_float (type); with++)
    {
      AdjKLayerNorm norm = { .x = RANDOM (type, 5, 3, 23), .n_dims = 2, .eps = 1e-5 };

      w = RANDOM (type, 3, 23);
      b = RANDOM (type, 3, 23);
      norm.w = with ? &w : NULL;
      norm.b = with ? &b : NULL;
      TWIN (y, RANDOM (type, 5, 3, 23));
      TWIN (mean, RANDOM (type, 5, 1, 1));
      TWIN (rstd, RANDOM (type, 5, 1, 1));
      ON_BOTH (q, i)
      {
        norm.y = y[i];
        norm.mean = mean[i];
        norm.rstd = rstd[i];
        adj_q_layer_norm (q, &norm);
      }
      assert_twins ("layer_norm", y);
      assert_twins ("layer_norm", mean);
      assert_twins ("layer_norm", rstd);
    }
}

static void
check_layer_norm_backward (AdjKType type)
{
  AdjKView w = RANDOM (type, 3, 23);
  Twin gx, gw, gb;

  if (!is_float (type))
    return;
  TWIN (gx, RANDOM (type, 5, 3, 23));
  TWIN (gw, RANDOM (type, 3, 23));
  TWIN (gb, RANDOM (type, 3, 23));
  {
    AdjKLayerNormBackward norm = { .g = RANDOM (type, 5, 3, 23),
                                   .x = RANDOM (type, 5, 3, 23),
                                   .mean = RANDOM (type, 5, 1, 1),
                                   .rstd = RANDOM (type, 5, 1, 1),
                                   .w = &w,
                                   .n_dims = 2 };

    ON_BOTH (q, i)
    {
      norm.gx = &gx[i];
      norm.gw = &gw[i];
      norm.gb = &gb[i];
      adj_q_layer_norm_backward (q, &norm);
    }
  }
  assert_twins ("layer_norm_backward", gx);
  assert_twins ("layer_norm_backward", gw);
  assert_twins ("layer_norm_backward", gb);
}

static void
check_nll (AdjKType type, gboolean backward)
{
  for (gint reduction = 0; reduction < 3 && is_float (type); reduction++)
    {
      AdjKView weight = RANDOM (type, 7);
      AdjKNll nll = { .x = RANDOM (type, 40, 7, 3),
                      .target = SOME (ADJ_K_I64, 0, 6, 40, 3),
                      .weight = reduction == 1 ? &weight : NULL,
                      .reduction = reduction,
                      .ignore_index = 2 };
      AdjKView g = reduction == 0 ? RANDOM (type, 40, 3) : SOME (type, 1, 2, 1);
      Twin out, total, gx;
      gint64 bad;

      TWIN (out, copy_of (&g));
      TWIN (total, SOME (type, 5, 9, 1));
      TWIN (gx, RANDOM (type, 40, 7, 3));
      if (reduction != 0)
        out[0].rank = out[1].rank = 0;
      total[0].rank = total[1].rank = 0;
      ON_BOTH (q, i)
      {
        if (backward)
          g_assert_true (adj_q_nll_loss_backward (q, &nll, &gx[i], &out[0], &total[0], &bad));
        else
          g_assert_true (adj_q_nll_loss (q, &nll, &out[i], &total[i], &bad));
      }
      assert_twins ("nll_loss", out);
      assert_twins ("nll_loss", total);
      assert_twins ("nll_loss_backward", gx);
    }
}

static void
check_nll_loss (AdjKType type)
{
  check_nll (type, FALSE);
}

static void
check_nll_loss_backward (AdjKType type)
{
  check_nll (type, TRUE);
}

/* -- indices -- */

static void
check_embedding (AdjKType type)
{
  AdjKView weight = RANDOM (type, 9, 5), idx = SOME (ADJ_K_I64, 0, 8, 4, 3);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 3, 5));
  ON_BOTH (q, i)
  g_assert_true (adj_q_embedding (q, &out[i], &weight, &idx, &bad));
  assert_twins ("embedding", out);
}

static void
check_embedding_backward (AdjKType type)
{
  for (gint by_freq = 0; by_freq < 2 && is_float (type); by_freq++)
    {
      AdjKEmbeddingBackward e = { .g = RANDOM (type, 4, 30, 5),
                                  .indices = SOME (ADJ_K_I32, 0, 8, 4, 30),
                                  .padding_idx = 3 - 4 * by_freq,
                                  .by_freq = by_freq };
      gint64 bad;
      Twin out;

      TWIN (out, RANDOM (type, 9, 5));
      ON_BOTH (q, i)
      {
        e.gw = out[i];
        g_assert_true (adj_q_embedding_backward (q, &e, &bad));
      }
      assert_twins ("embedding_backward", out);
    }
}

static void
check_index_select (AdjKType type)
{
  AdjKView x = RANDOM (type, 4, 9, 3), idx = SOME (ADJ_K_I64, 0, 8, 13);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 13, 3));
  ON_BOTH (q, i)
  g_assert_true (adj_q_index_select (q, &out[i], &x, 1, &idx, &bad));
  assert_twins ("index_select", out);
}

static void
check_index_add (AdjKType type)
{
  AdjKView src = RANDOM (type, 4, 13, 3), idx = SOME (ADJ_K_I64, 0, 8, 13);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 9, 3));
  ON_BOTH (q, i)
  g_assert_true (adj_q_index_add (q, &out[i], 1, &idx, &src, 2, &bad));
  assert_twins ("index_add", out);
}

static void
check_gather (AdjKType type)
{
  AdjKView x = RANDOM (type, 4, 9, 3), idx = SOME (ADJ_K_I64, 0, 8, 3, 11, 2);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 3, 11, 2));
  ON_BOTH (q, i)
  g_assert_true (adj_q_gather (q, &out[i], &x, 1, &idx, &bad));
  assert_twins ("gather", out);
}

static void
check_scatters (AdjKType type, gboolean add)
{
  AdjKView src = RANDOM (type, 4, 15, 3), idx = SOME (ADJ_K_I64, 0, 8, 3, 11, 2);
  gint64 bad;
  Twin out;

  TWIN (out, RANDOM (type, 4, 9, 3));
  ON_BOTH (q, i)
  g_assert_true (add ? adj_q_scatter_add (q, &out[i], 1, &idx, &src, &bad)
                     : adj_q_scatter (q, &out[i], 1, &idx, &src, &bad));
  assert_twins ("scatter", out);
}

static void
check_scatter (AdjKType type)
{
  check_scatters (type, FALSE);
}

static void
check_scatter_add (AdjKType type)
{
  check_scatters (type, TRUE);
}

/* Neighbouring and separated indexed dims. */
static void
check_many (AdjKType type, gboolean put, gboolean accumulate)
{
  for (gint apart = 0; apart < 2; apart++)
    {
      AdjKView a = SOME (ADJ_K_I64, -4, 3, 6, 2), b = SOME (ADJ_K_I64, -3, 2, 6, 2);
      AdjKIndex index = { .accumulate = accumulate };
      Twin x, values;
      gint64 bad;

      b.stride[1] = 0;
      index.idx[1 - apart] = &a;
      index.idx[2] = &b;
      TWIN (x, apart ? RANDOM (type, 4, 5, 3) : RANDOM (type, 5, 4, 3));
      TWIN (values, apart ? RANDOM (type, 6, 2, 5) : RANDOM (type, 5, 6, 2));
      ON_BOTH (q, i)
      {
        index.x = x[i];
        index.values = values[i];
        g_assert_true (put ? adj_q_index_put (q, &index, &bad) : adj_q_index (q, &index, &bad));
      }
      assert_twins ("index", x);
      assert_twins ("index", values);
    }
}

static void
check_index (AdjKType type)
{
  check_many (type, FALSE, FALSE);
}

static void
check_index_put (AdjKType type)
{
  check_many (type, TRUE, FALSE);
  check_many (type, TRUE, TRUE);
}

/* -- images -- */

typedef bool (*Conv) (AdjKQueue *, const AdjKConv *);

static void
check_convs (AdjKType type, const char *name, Conv run, gint which)
{
  AdjKView bias = RANDOM (type, which == 1 ? 4 : 6);
  AdjKConv conv = { .stride = { 2, 1 }, .padding = { 1, 0 }, .dilation = { 1, 2 }, .groups = 2 };
  Twin out;

  conv.x = RANDOM (type, 2, 4, 9, 8);
  conv.w = RANDOM (type, 6, 2, 3, 2);
  conv.y = RANDOM (type, 2, 6, 5, 6);
  if (which != 2)
    conv.bias = &bias;
  TWIN (out, which == 0 ? conv.y : which == 1 ? conv.x : conv.w);
  ON_BOTH (q, i)
  {
    *(which == 0 ? &conv.y : which == 1 ? &conv.x : &conv.w) = out[i];
    g_assert_true (run (q, &conv));
  }
  assert_twins (name, out);
}

static void
check_conv (AdjKType type)
{
  check_convs (type, "conv", adj_q_conv, 0);
}

static void
check_conv_input (AdjKType type)
{
  check_convs (type, "conv_input", adj_q_conv_input, 1);
}

static void
check_conv_weight (AdjKType type)
{
  check_convs (type, "conv_weight", adj_q_conv_weight, 2);
}

static AdjKPool
some_pool (AdjKType type, gboolean adaptive)
{
  return (AdjKPool){ .x = RANDOM (type, 2, 3, 1, 9, 8),
                     .y = RANDOM (type, 2, 3, 1, 5, 4),
                     .adaptive = adaptive,
                     .kernel = { 1, 3, 2 },
                     .stride = { 1, 2, 2 },
                     .padding = { 0, 1, 0 },
                     .dilation = { 1, 1, 1 } };
}

static void
check_max_pool (AdjKType type)
{
  for (gint adaptive = 0; adaptive < 2; adaptive++)
    {
      AdjKPool pool = some_pool (type, adaptive);
      Twin y, indices;

      TWIN (y, pool.y);
      TWIN (indices, RANDOM (ADJ_K_I64, 2, 3, 1, 5, 4));
      ON_BOTH (q, i)
      {
        pool.y = y[i];
        g_assert_true (adj_q_max_pool (q, &pool, &indices[i]));
      }
      assert_twins ("max_pool", y);
      assert_twins ("max_pool", indices);
    }
}

static void
check_avg_pools (AdjKType type, gboolean backward)
{
  for (gint way = 0; way < 4; way++)
    {
      AdjKPool pool = some_pool (type, way == 1);
      Twin out;

      pool.counts_padding = way == 2;
      pool.divisor = way == 3 ? 5 : 0;
      TWIN (out, backward ? pool.x : pool.y);
      ON_BOTH (q, i)
      {
        *(backward ? &pool.x : &pool.y) = out[i];
        g_assert_true (backward ? adj_q_avg_pool_backward (q, &pool) : adj_q_avg_pool (q, &pool));
      }
      assert_twins ("avg_pool", out);
    }
}

static void
check_avg_pool (AdjKType type)
{
  check_avg_pools (type, FALSE);
}

static void
check_avg_pool_backward (AdjKType type)
{
  check_avg_pools (type, TRUE);
}

static void
check_unpool (AdjKType type)
{
  for (gint last = 0; last < 2; last++)
    {
      AdjKView y = RANDOM (type, 2, 3, 1, 5, 4);
      AdjKView indices = SOME (ADJ_K_I64, 0, 71, 2, 3, 1, 5, 4);
      Twin x;

      TWIN (x, RANDOM (type, 2, 3, 1, 9, 8));
      ON_BOTH (q, i)
      g_assert_true (adj_q_unpool (q, &x[i], &y, &indices, last));
      assert_twins ("unpool", x);
    }
}

static void
check_pool_check (AdjKType type)
{
  AdjKView indices = SOME (ADJ_K_I64, 0, 71, 4, 5);
  gint64 bad;

  g_assert_true (adj_q_pool_check (&cpu, &indices, 72, &bad));
  g_assert_true (adj_q_pool_check (&cuda.queue, &indices, 72, &bad));
  g_assert_cmpint (cuda.faults.bad_index, ==, G_MAXINT64);
  kernel_array_set (&indices, 3, 99);
  g_assert_true (adj_q_pool_check (&cuda.queue, &indices, 72, &bad));
  g_assert_cmpint (cuda.faults.bad_index, ==, 99);
  cuda.faults = ADJ_K_NO_FAULTS;
}

static void
check_resamples (AdjKType type, gboolean backward)
{
  for (AdjKResampleMode mode = 0; mode < ADJ_K_RESAMPLE_N && is_float (type); mode++)
    for (gint antialias = 0; antialias < (mode >= ADJ_K_RESAMPLE_LINEAR ? 2 : 1); antialias++)
      {
        AdjKResample resample = { .x = RANDOM (type, 2, 2, 1, 7, 6),
                                  .y = RANDOM (type, 2, 2, 1, 5, 9),
                                  .mode = mode,
                                  .n_axes = 2,
                                  .antialias = antialias };
        Twin out;

        TWIN (out, backward ? resample.x : resample.y);
        ON_BOTH (q, i)
        {
          *(backward ? &resample.x : &resample.y) = out[i];
          g_assert_true (backward ? adj_q_resample_backward (q, &resample)
                                  : adj_q_resample (q, &resample));
        }
        assert_twins ("resample", out);
      }
}

static void
check_resample (AdjKType type)
{
  check_resamples (type, FALSE);
}

static void
check_resample_backward (AdjKType type)
{
  check_resamples (type, TRUE);
}

/* -- attention -- */

static AdjKAttention
some_attention (AdjKType type, const AdjKView *mask, gboolean causal)
{
  return (AdjKAttention){ .q = RANDOM (type, 2, 2, 101, 5),
                          .k = RANDOM (type, 2, 2, 103, 5),
                          .v = RANDOM (type, 2, 2, 103, 5),
                          .mask = mask,
                          .causal = causal,
                          .scale = 0.4 };
}

static void
check_attention (AdjKType type)
{
  for (gint way = 0; way < 3 && is_float (type); way++)
    {
      AdjKView mask = RANDOM (type, 2, 2, 101, 103);
      AdjKAttention attention = some_attention (type, way == 1 ? &mask : NULL, way == 2);
      Twin out, lse;

      for (gint j = 0; j < 103; j++)
        kernel_array_set (&mask, j, -INFINITY);
      TWIN (out, RANDOM (type, 2, 2, 101, 5));
      TWIN (lse, RANDOM (ADJ_K_F32, 2, 2, 101));
      ON_BOTH (q, i)
      g_assert_true (adj_q_attention (q, &attention, &out[i], &lse[i]));
      assert_twins ("attention", out);
      assert_twins ("attention", lse);
    }
}

static void
check_attention_backward (AdjKType type)
{
  for (gint causal = 0; causal < 2 && is_float (type); causal++)
    {
      AdjKAttentionBackward b = { .forward = some_attention (type, NULL, causal),
                                  .g = RANDOM (type, 2, 2, 101, 5),
                                  .out = RANDOM (type, 2, 2, 101, 5),
                                  .lse = RANDOM (ADJ_K_F32, 2, 2, 101) };
      Twin gq, gk, gv;

      TWIN (gq, RANDOM (type, 2, 2, 101, 5));
      TWIN (gk, RANDOM (type, 2, 2, 103, 5));
      TWIN (gv, RANDOM (type, 2, 2, 103, 5));
      ON_BOTH (q, i)
      {
        b.gq = gq[i];
        b.gk = gk[i];
        b.gv = gv[i];
        g_assert_true (adj_q_attention_backward (q, &b));
      }
      assert_twins ("attention_backward", gq);
      assert_twins ("attention_backward", gk);
      assert_twins ("attention_backward", gv);
    }
}

/* -- optimisers -- */

static void
check_adam (AdjKType type)
{
  for (gint way = 0; way < 4 && is_float (type); way++)
    {
      AdjKAdam adam = { .lr = 0.1,
                        .beta1 = 0.9,
                        .beta2 = 0.99,
                        .weight_decay = 0.01,
                        .eps = 1e-8,
                        .step = 3,
                        .grad_scale = way == 1 ? 4 : 0,
                        .decoupled = way == 2,
                        .maximize = way == 3 };
      Twin p, m, v, g, top;

      TWIN (p, RANDOM (type, 3, 41));
      TWIN (m, RANDOM (type, 3, 41));
      TWIN (v, SOME (type, 0, 3, 3, 41));
      TWIN (g, RANDOM (type, 3, 41));
      TWIN (top, SOME (type, 0, 3, 3, 41));
      ON_BOTH (q, i)
      {
        adam.p = p[i];
        adam.m = m[i];
        adam.v = v[i];
        adam.g = g[i];
        adam.v_max = way == 3 ? &top[i] : NULL;
        adj_q_adam (q, &adam);
      }
      assert_twins ("adam", p);
      assert_twins ("adam", m);
      assert_twins ("adam", v);
      assert_twins ("adam", g);
      assert_twins ("adam", top);
    }
}

static void
check_sgd (AdjKType type)
{
  for (gint way = 0; way < 4 && is_float (type); way++)
    {
      AdjKSgd sgd = { .lr = 0.1,
                      .momentum = 0.9,
                      .dampening = 0.1,
                      .weight_decay = 0.01,
                      .grad_scale = way == 1 ? 4 : 0,
                      .nesterov = way == 2,
                      .maximize = way == 3,
                      .is_first = way == 1 };
      Twin p, g, m;

      TWIN (p, RANDOM (type, 3, 41));
      TWIN (g, RANDOM (type, 3, 41));
      TWIN (m, RANDOM (type, 3, 41));
      ON_BOTH (q, i)
      {
        sgd.p = p[i];
        sgd.g = g[i];
        sgd.momentum_buffer = way > 0 ? &m[i] : NULL;
        adj_q_sgd (q, &sgd);
      }
      assert_twins ("sgd", p);
      assert_twins ("sgd", g);
      assert_twins ("sgd", m);
    }
}

static void
check_unscale (AdjKType type)
{
  for (gint infinite = 0; infinite < 2 && is_float (type); infinite++)
    {
      Twin x, found;

      TWIN (x, RANDOM (type, 3, 41));
      for (gint i = 0; i < 2 && infinite; i++)
        kernel_array_set (&x[i], 77, INFINITY);
      TWIN (found, SOME (ADJ_K_F32, 0, 0, 1));
      found[0].rank = found[1].rank = 0;
      ON_BOTH (q, i)
      adj_q_unscale (q, &x[i], 0.25, &found[i]);
      assert_twins ("unscale", x);
      assert_twins ("unscale", found);
      g_assert_cmpfloat (kernel_array_get (&found[1], 0), ==, infinite);
    }
}

/* -- all of them -- */

#define CHECK(RESULT, name, parameters, arguments) { #name, check_##name },

static const struct
{
  const char *name;
  void (*check) (AdjKType type);
} checks[] = { ADJ_K_ENTRIES (CHECK) };

static void
test_entry (gconstpointer data)
{
  guint entry = GPOINTER_TO_UINT (data);

  for (AdjKType type = 0; type < ADJ_K_N; type++)
    {
      checks[entry].check (type);
      emulated_queue_clear (&cuda);
    }
}

static void
test_long (void)
{
  check_long_reduce ();
  emulated_queue_clear (&cuda);
}

/* The smallest offender is reported, and the rest is done. */
static void
test_faults (void)
{
  AdjKView x = RANDOM (ADJ_K_F32, 4), idx = SOME (ADJ_K_I64, 0, 3, 5);
  AdjKView out = RANDOM (ADJ_K_F32, 5);
  gint64 bad;

  kernel_array_set (&idx, 1, 7);
  kernel_array_set (&idx, 4, -2);
  g_assert_true (adj_q_index_select (&cuda.queue, &out, &x, 0, &idx, &bad));
  g_assert_cmpint (cuda.faults.bad_index, ==, -2);
  emulated_queue_clear (&cuda);
}

/* Runs last: every kernel was launched. */
static void
test_coverage (void)
{
  guint n = 0, covered = 0;

  for (; adj_emulated_kernels[n].symbol != NULL; n++)
    if (adj_emulator_get_counts ()[n] > 0)
      covered++;
    else
      g_test_message ("not covered: %s", adj_emulated_kernels[n].symbol);
  g_test_message ("kernels %u / covered %u", n, covered);
  g_assert_cmpuint (covered, ==, n);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  cpu = ADJ_K_CPU_QUEUE;
  emulated_queue_init (&cuda);
  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    {
      g_autofree char *path = g_strdup_printf ("/cuda/%s", checks[i].name);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_entry);
    }
  g_test_add_func ("/cuda/long", test_long);
  g_test_add_func ("/cuda/faults", test_faults);
  g_test_add_func ("/cuda/zz-coverage", test_coverage);
  return g_test_run ();
}
