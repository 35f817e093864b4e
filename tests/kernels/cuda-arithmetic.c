/* SPDX-License-Identifier: MIT */
/* Checks of copies, pointwise programs, reductions, products and rows. */

#include <math.h>

#include "cuda-check.h"

static const gint lengths[] = { 0, 1, 7, 65, 1025, 4100 };

/* -- copies -- */

void
check_copy (AdjKType type)
{
  for (AdjKType from = 0; from < ADJ_K_N; from++)
    {
      AdjKView in = RANDOM (from, 3, 5, 7);
      Pair out;

      PAIR (out, RANDOM (type, 3, 5, 7));
      ON_BOTH (q, i)
      adj_q_copy (q, &out[i], &in);
      assert_pair ("copy", out);
    }
}

void
check_fill_f64 (AdjKType type)
{
  Pair out;

  PAIR (out, RANDOM (type, 3, 0x101));
  ON_BOTH (q, i)
  adj_q_fill_f64 (q, &out[i], 2.7);
  assert_pair ("fill_f64", out);
}

void
check_fill_i64 (AdjKType type)
{
  Pair out;

  PAIR (out, RANDOM (type, 0, 5));
  ON_BOTH (q, i)
  adj_q_fill_i64 (q, &out[i], -3);
  PAIR (out, RANDOM (type, 2, 5));
  ON_BOTH (q, i)
  adj_q_fill_i64 (q, &out[i], -3);
  assert_pair ("fill_i64", out);
}

void
check_iota_f64 (AdjKType type)
{
  Pair out;

  PAIR (out, RANDOM (type, 5, 9));
  ON_BOTH (q, i)
  adj_q_iota_f64 (q, &out[i], 1.5, 0.3);
  assert_pair ("iota_f64", out);
}

void
check_iota_i64 (AdjKType type)
{
  Pair out;

  PAIR (out, RANDOM (type, 5, 9));
  ON_BOTH (q, i)
  adj_q_iota_i64 (q, &out[i], 4, -3);
  assert_pair ("iota_i64", out);
}

void
check_tril (AdjKType type)
{
  for (gint64 diagonal = -3; diagonal < 5; diagonal++)
    {
      AdjKView in = RANDOM (type, 2, 5, 4);
      Pair out;

      PAIR (out, RANDOM (type, 2, 5, 4));
      ON_BOTH (q, i)
      adj_q_tril (q, &out[i], &in, diagonal);
      assert_pair ("tril", out);
    }
}

void
check_triu (AdjKType type)
{
  for (gint64 diagonal = -3; diagonal < 5; diagonal++)
    {
      AdjKView in = RANDOM (type, 2, 5, 4);
      Pair out;

      PAIR (out, RANDOM (type, 2, 5, 4));
      ON_BOTH (q, i)
      adj_q_triu (q, &out[i], &in, diagonal);
      assert_pair ("triu", out);
    }
}

/* -- pointwise -- */

static AdjKClass
class_of (AdjKType type)
{
  return type == ADJ_K_F64 ? ADJ_K_CLASS_F64 : is_float (type) ? ADJ_K_CLASS_F32 : ADJ_K_CLASS_I64;
}

/* Every op of the class, one after the other. */
void
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
      Pair out;

      if (op == ADJ_K_OP_LOAD || !adj_k_op_has_class (op, class_of (type)))
        continue;
      if (op == ADJ_K_OP_CONST)
        code[3].imm.i = 0x4008;
      inputs[1].stride[0] = 0;
      PAIR (out, RANDOM (type, 5, 13));
      ON_BOTH (q, i)
      fine[i] = adj_q_pointwise (q, &program, &out[i], inputs);
      assert_pair (adj_k_op_get_name (op), out);
      g_assert_true (fine[1]);
      g_assert_cmpint (fine[0], ==, !cuda.faults.zero_division);
      cuda.faults = ADJ_K_NO_FAULTS;
    }
}

void
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
  Pair out, other;

  b.stride[1] = 0;
  g_assert_true (adj_k_fused_check (&fused));
  PAIR (out, RANDOM (type, 3, 41));
  PAIR (other, RANDOM (ADJ_K_F16, 3, 41));
  ON_BOTH (q, i)
  {
    AdjKView operands[] = { a, b, out[i], other[i] };

    g_assert_true (adj_q_fused (q, &fused, operands));
  }
  assert_pair ("fused", out);
  assert_pair ("fused", other);
}

/* -- reductions -- */

void
check_reduce (AdjKType type)
{
  for (AdjKReduce kind = ADJ_K_SUM; kind <= ADJ_K_NORM2; kind++)
    for (guint l = 0; l < G_N_ELEMENTS (lengths); l++)
      for (guint32 dims = 1; dims < 4; dims++)
        {
          AdjKView in = RANDOM (type, lengths[l], 3);
          Pair out;

          if (dims == 2 && lengths[l] > 100)
            continue;
          if (lengths[l] == 0 && (kind == ADJ_K_MAX || kind == ADJ_K_MIN))
            continue;
          if ((kind == ADJ_K_MEAN || kind == ADJ_K_NORM2) && !is_float (type))
            continue;
          PAIR (out, RANDOM (type, dims & 1 ? 1 : lengths[l], dims & 2 ? 1 : 3));
          ON_BOTH (q, i)
          adj_q_reduce (q, kind, &out[i], &in, dims);
          assert_pair ("reduce", out);
        }
}

/* Many outputs side by side: of one leaf, and of several blocks. */
void
check_columns (void)
{
  static const AdjKType types[] = { ADJ_K_F32, ADJ_K_BF16, ADJ_K_F64, ADJ_K_I64 };
  static const gint rows[] = { 3, 1500, 9000 };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
      for (AdjKReduce kind = ADJ_K_SUM; kind <= ADJ_K_MAX; kind++)
        {
          AdjKView in = RANDOM (types[t], rows[r], 70);
          Pair out;

          PAIR (out, RANDOM (types[t], 1, 70));
          ON_BOTH (q, i)
          adj_q_reduce (q, kind, &out[i], &in, 1);
          assert_pair ("reduce of columns", out);
        }
}

void
check_long_reduce (void)
{
  AdjKView in = RANDOM (ADJ_K_F32, 2, 150001);
  Pair out;

  PAIR (out, RANDOM (ADJ_K_F32, 2, 1));
  ON_BOTH (q, i)
  adj_q_reduce (q, ADJ_K_SUM, &out[i], &in, 2);
  assert_pair ("reduce of several chunks", out);
  in = RANDOM (ADJ_K_F64, 150001);
  PAIR (out, RANDOM (ADJ_K_F64, 1));
  ON_BOTH (q, i)
  adj_q_reduce (q, ADJ_K_MEAN, &out[i], &in, 1);
  assert_pair ("reduce of several chunks", out);
  in = RANDOM (ADJ_K_I32, 150001);
  PAIR (out, RANDOM (ADJ_K_I64, 1));
  ON_BOTH (q, i)
  adj_q_reduce (q, ADJ_K_SUM, &out[i], &in, 1);
  assert_pair ("reduce of several chunks", out);
}

void
check_var_mean (AdjKType type)
{
  for (guint l = 1; l < G_N_ELEMENTS (lengths) && is_float (type); l++)
    {
      AdjKView in = RANDOM (type, 3, lengths[l]);
      Pair var, mean;

      PAIR (var, RANDOM (type, 3, 1));
      PAIR (mean, RANDOM (type, 3, 1));
      ON_BOTH (q, i)
      adj_q_var_mean (q, &var[i], &mean[i], &in, 2, 1);
      assert_pair ("var_mean", var);
      assert_pair ("var_mean", mean);
    }
}

static void
check_extreme (AdjKType type, gboolean smallest)
{
  for (guint l = 1; l < G_N_ELEMENTS (lengths); l++)
    {
      AdjKView in = RANDOM (type, 3, lengths[l]);
      Pair values, indices;

      if (is_float (type) && l == 3)
        kernel_array_set (&in, 70, NAN);
      PAIR (values, RANDOM (type, 3, 1));
      PAIR (indices, RANDOM (ADJ_K_I64, 3, 1));
      ON_BOTH (q, i)
      {
        if (smallest)
          adj_q_min_dim (q, &values[i], &indices[i], &in, 1);
        else
          adj_q_max_dim (q, &values[i], &indices[i], &in, 1);
      }
      assert_pair ("max_dim", values);
      assert_pair ("max_dim", indices);
    }
}

void
check_max_dim (AdjKType type)
{
  check_extreme (type, FALSE);
}

void
check_min_dim (AdjKType type)
{
  check_extreme (type, TRUE);
}

/* Along each dim; rows and elements of more than a tile. */
static void
check_scans (AdjKType type,
             const char *name,
             void (*run) (AdjKQueue *, const AdjKView *, const AdjKView *, int))
{
  for (gint dim = 0; dim < 3; dim++)
    {
      AdjKView in = RANDOM (type, 2, 70, 35);
      Pair out;

      PAIR (out, RANDOM (type, 2, 70, 35));
      ON_BOTH (q, i)
      run (q, &out[i], &in, dim);
      assert_pair (name, out);
    }
}

void
check_cumsum (AdjKType type)
{
  AdjKView in = RANDOM (type, 2100);
  Pair out;

  check_scans (type, "cumsum", adj_q_cumsum);
  PAIR (out, RANDOM (type, 2100));
  ON_BOTH (q, i)
  adj_q_cumsum (q, &out[i], &in, 0);
  assert_pair ("cumsum", out);
}

void
check_cumprod (AdjKType type)
{
  check_scans (type, "cumprod", adj_q_cumprod);
}

void
check_sort (AdjKType type)
{
  for (gint k = 1; k < 60; k += 29)
    {
      AdjKView in = RANDOM (type, 3, 59);
      Pair values, indices;

      if (is_float (type))
        kernel_array_set (&in, 70, NAN);
      PAIR (values, RANDOM (type, 3, k));
      PAIR (indices, RANDOM (ADJ_K_I64, 3, k));
      ON_BOTH (q, i)
      g_assert_true (adj_q_sort (q, &values[i], &indices[i], &in, 1, k == 30));
      assert_pair ("sort", values);
      assert_pair ("sort", indices);
    }
}

/* -- matrix products -- */

void
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
      Pair out;

      PAIR (out, RANDOM (type, n[0], n[1], n[2]));
      ON_BOTH (q, i)
      {
        gemm.c = out[i];
        adj_q_gemm (q, &gemm);
      }
      assert_pair ("gemm", out);
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
      Pair out;

      PAIR (out, RANDOM (type, 2, lengths[l], 3));
      ON_BOTH (q, i)
      run (q, &out[i], &in, 1);
      assert_pair (name, out);
    }
}

static void
check_rows_backward (AdjKType type, const char *name, RowsBackward run)
{
  for (guint l = 0; l < G_N_ELEMENTS (lengths) && is_float (type); l++)
    {
      AdjKView g = RANDOM (type, 2, lengths[l]), y = RANDOM (type, 2, lengths[l]);
      Pair out;

      PAIR (out, RANDOM (type, 2, lengths[l]));
      ON_BOTH (q, i)
      run (q, &out[i], &g, &y, 1);
      assert_pair (name, out);
    }
}

void
check_softmax (AdjKType type)
{
  check_rows (type, "softmax", adj_q_softmax);
}

void
check_log_softmax (AdjKType type)
{
  check_rows (type, "log_softmax", adj_q_log_softmax);
}

void
check_softmax_backward (AdjKType type)
{
  check_rows_backward (type, "softmax_backward", adj_q_softmax_backward);
}

void
check_log_softmax_backward (AdjKType type)
{
  check_rows_backward (type, "log_softmax_backward", adj_q_log_softmax_backward);
}

void
check_layer_norm (AdjKType type)
{
  AdjKView w, b;
  Pair y, mean, rstd;

  for (gint with = 0; with < 2 && is_float (type); with++)
    {
      AdjKLayerNorm norm = { .x = RANDOM (type, 5, 3, 23), .n_dims = 2, .eps = 1e-5 };

      w = RANDOM (type, 3, 23);
      b = RANDOM (type, 3, 23);
      norm.w = with ? &w : NULL;
      norm.b = with ? &b : NULL;
      PAIR (y, RANDOM (type, 5, 3, 23));
      PAIR (mean, RANDOM (type, 5, 1, 1));
      PAIR (rstd, RANDOM (type, 5, 1, 1));
      ON_BOTH (q, i)
      {
        norm.y = y[i];
        norm.mean = mean[i];
        norm.rstd = rstd[i];
        adj_q_layer_norm (q, &norm);
      }
      assert_pair ("layer_norm", y);
      assert_pair ("layer_norm", mean);
      assert_pair ("layer_norm", rstd);
    }
}

void
check_layer_norm_backward (AdjKType type)
{
  AdjKView w = RANDOM (type, 3, 23);
  Pair gx, gw, gb;

  if (!is_float (type))
    return;
  PAIR (gx, RANDOM (type, 5, 3, 23));
  PAIR (gw, RANDOM (type, 3, 23));
  PAIR (gb, RANDOM (type, 3, 23));
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
  assert_pair ("layer_norm_backward", gx);
  assert_pair ("layer_norm_backward", gw);
  assert_pair ("layer_norm_backward", gb);
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
      Pair out, total, gx;
      gint64 bad;

      PAIR (out, copy_of (&g));
      PAIR (total, SOME (type, 5, 9, 1));
      PAIR (gx, RANDOM (type, 40, 7, 3));
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
      assert_pair ("nll_loss", out);
      assert_pair ("nll_loss", total);
      assert_pair ("nll_loss_backward", gx);
    }
}

void
check_nll_loss (AdjKType type)
{
  check_nll (type, FALSE);
}

void
check_nll_loss_backward (AdjKType type)
{
  check_nll (type, TRUE);
}
