/* SPDX-License-Identifier: MIT */
/* Random numbers from seed tensors, as Inductor's CPU code computes them with a counter per
 * element. PyTorch's own kernels of these operators ignore the seed. */

#include <math.h>

#include "ops/create-private.h"
#include "ops/random-private.h"
#include "ops/table-private.h"

/* -- seeds -- */

static gboolean
add_seeds (AdjOpCall *call, guint rank, gint64 n)
{
  AdjShape shape;

  adj_shape_init_ints (&shape, rank, &n);
  return op_add_new (call, ADJ_DTYPE_I64, &shape);
}

static gboolean
seed_meta (AdjOpCall *call)
{
  return add_seeds (call, 0, 0);
}

static gboolean
seeds_meta (AdjOpCall *call)
{
  gint64 n = adj_op_call_int (call, 0, 0);

  return n >= 0 ? add_seeds (call, 1, n) : adj_op_call_fail (call, "count is negative");
}

/* Result 0: two words per element, modulo @range, plus @low. */
static gboolean
draw_seeds (AdjOpCall *call, gint64 low, guint64 range)
{
  AdjKQueue *queue = op_queue (call);
  g_autofree gpointer memory = NULL;
  AdjKView out, words;

  if (!op_output (call, 0, &out))
    return FALSE;
  memory = op_draw_words (call, 2 * adj_k_view_count (&out), &words);
  adj_q_integers (queue, &out, &words, low, range);
  return TRUE;
}

static gboolean
seed_kernel (AdjOpCall *call)
{
  return draw_seeds (call, 0, G_MAXINT64);
}

/* From the smallest to below the largest int64, as in Inductor's code; PyTorch's own kernel draws
 * only non-negative ones. */
static gboolean
seeds_kernel (AdjOpCall *call)
{
  return draw_seeds (call, G_MININT64, G_MAXUINT64);
}

static gboolean
lookup_meta (AdjOpCall *call)
{
  const AdjTensorMeta *seeds = adj_op_call_meta (call, 0);
  gint64 index = adj_op_call_int (call, 1, 0);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (seeds->shape.rank != 1 || seeds->dtype != ADJ_DTYPE_I64)
    return adj_op_call_fail (call, "seeds must be int64 of one dimension");
  if (adj_size_test (op_symbols (call), ADJ_SIZE_LE, seeds->shape.size[0],
                     ADJ_SIZE (index < 0 ? -index - 1 : index)))
    return adj_op_call_fail (call, "there is no seed %" G_GINT64_FORMAT, index);
  op_add_contiguous (call, ADJ_DTYPE_I64, 0, NULL);
  return TRUE;
}

static gboolean
lookup_kernel (AdjOpCall *call)
{
  gint64 index = adj_op_call_int (call, 1, 0);
  AdjKView out, seeds;

  if (!op_output (call, 0, &out) || !op_input (call, 0, &seeds))
    return FALSE;
  index += index < 0 ? seeds.size[0] : 0;
  seeds.data = (char *) seeds.data + (gsize) (index * seeds.stride[0]) * sizeof (gint64);
  seeds.rank = 0;
  adj_q_copy (op_queue (call), &out, &seeds);
  return TRUE;
}

/* -- numbers -- */

static gboolean
check_seed (const AdjOpCall *call, guint arg)
{
  const AdjTensorMeta *seed = adj_op_call_meta (call, arg);

  if (adj_context_has_error (call->cx))
    return FALSE;
  return (seed->dtype == ADJ_DTYPE_I64 &&
          adj_size_is (op_symbols (call), adj_shape_numel (&seed->shape, op_symbols (call)), 1)) ||
         adj_op_call_fail (call, "the seed must be one int64");
}

static gboolean
is_normal (const AdjOpCall *call)
{
  return g_strcmp0 (adj_op_call_string (call, 2, NULL), "randn") == 0;
}

static gboolean
random_meta (AdjOpCall *call)
{
  AdjShape shape;

  if (!check_seed (call, 1))
    return FALSE;
  if (!is_normal (call) && g_strcmp0 (adj_op_call_string (call, 2, NULL), "rand") != 0)
    return adj_op_call_fail (call, "mode must be 'rand' or 'randn'");
  return op_new_shape (call, 0, &shape) && op_add_new (call, ADJ_DTYPE_F32, &shape);
}

/* Inductor uses the low half of the seed. */
static gboolean
read_seed (const AdjOpCall *call, guint arg, guint32 *seed)
{
  AdjKView view;

  if (!op_input (call, arg, &view))
    return FALSE;
  *seed = (guint32) * (const guint64 *) view.data;
  return TRUE;
}

/* The random words of element @i. */
static void
words_of (guint32 seed, gint64 i, guint32 words[4])
{
  const guint32 key[] = { seed, 0 };
  const guint32 counter[] = { (guint32) i, 0, 0, 0 };

  adj_k_philox_block (key, counter, words);
}

/* 31-bit words divided by 2^31, in f32: numbers in [0, 1). */
#define OF_WORD 4.6566127342e-10f

static void
run_program (const AdjOpCall *call,
             AdjKClass klass,
             const AdjKCode *code,
             int n_code,
             int n_inputs,
             const AdjKView *out,
             const AdjKView *inputs)
{
  const AdjKProgram program = {
    .klass = klass, .n_inputs = n_inputs, .n_regs = 3, .n_code = n_code, .code = code
  };

  adj_q_pointwise (op_queue (call), &program, out, inputs);
}

/* @out: F32, from word @part of each row of @words. */
static void
make_uniform (const AdjOpCall *call, const AdjKView *words, gint part, const AdjKView *out)
{
  static const AdjKCode low[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 1, .imm.i = 0x7fffffff },
    { .op = ADJ_K_OP_BITAND, .dst = 0, .a = 0, .b = 1 },
  };
  static const AdjKCode scaled[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 1, .imm.f = (double) OF_WORD },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
  };
  g_autofree gpointer memory = NULL;
  AdjKView column = *words, bits;

  column.data = (guint32 *) words->data + part;
  column.rank = 1;
  memory = op_temporary (op_queue (call), &column, ADJ_K_I32, &bits);
  run_program (call, ADJ_K_CLASS_I64, low, G_N_ELEMENTS (low), 1, &bits, &column);
  run_program (call, ADJ_K_CLASS_F32, scaled, G_N_ELEMENTS (scaled), 1, out, &bits);
}

/* √(-2 ln (1 - u)) cos (2π (1 - v)), the differences in f32, the rest in f64. */
static void
make_normal (const AdjOpCall *call, const AdjKView *words, const AdjKView *out)
{
  static const AdjKCode rest[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 1, .imm.f = 1 },
    { .op = ADJ_K_OP_SUB, .dst = 0, .a = 1, .b = 0 },
  };
  static const AdjKCode box_muller[] = {
    { .op = ADJ_K_OP_LOAD, .dst = 0 },
    { .op = ADJ_K_OP_LOG, .dst = 0, .a = 0 },
    { .op = ADJ_K_OP_CONST, .dst = 1, .imm.f = -2 },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 1, .b = 0 },
    { .op = ADJ_K_OP_SQRT, .dst = 0, .a = 0 },
    { .op = ADJ_K_OP_LOAD, .dst = 1, .imm.i = 1 },
    { .op = ADJ_K_OP_CONST, .dst = 2, .imm.f = 2 * G_PI },
    { .op = ADJ_K_OP_MUL, .dst = 1, .a = 2, .b = 1 },
    { .op = ADJ_K_OP_COS, .dst = 1, .a = 1 },
    { .op = ADJ_K_OP_MUL, .dst = 0, .a = 0, .b = 1 },
  };
  g_autofree gpointer u = NULL;
  g_autofree gpointer v = NULL;
  AdjKView parts[2];

  u = op_temporary (op_queue (call), out, ADJ_K_F32, &parts[0]);
  v = op_temporary (op_queue (call), out, ADJ_K_F32, &parts[1]);
  for (gint i = 0; i < 2; i++)
    {
      make_uniform (call, words, i, &parts[i]);
      run_program (call, ADJ_K_CLASS_F32, rest, G_N_ELEMENTS (rest), 1, &parts[i], &parts[i]);
    }
  run_program (call, ADJ_K_CLASS_F64, box_muller, G_N_ELEMENTS (box_muller), 2, out, parts);
}

/* In f32, even in a float64 run. */
static gboolean
random_kernel (AdjOpCall *call)
{
  gint64 n_words = is_normal (call) ? 2 : 1;
  g_autofree gpointer memory = NULL;
  g_autofree gpointer drawn = NULL;
  AdjKView out, flat, seed, rows, words, numbers;

  if (!op_output (call, 0, &out) || !op_input (call, 1, &seed))
    return FALSE;
  rows = (AdjKView){ .rank = 2, .size = { adj_k_view_count (&out), n_words } };
  memory = op_temporary (op_queue (call), &rows, ADJ_K_I32, &words);
  adj_q_philox (op_queue (call), &seed, &words);
  drawn = op_temporary (op_queue (call), &(AdjKView){ .rank = 1, .size = { rows.size[0] } },
                        ADJ_K_F32, &numbers);
  if (is_normal (call))
    make_normal (call, &words, &numbers);
  else
    make_uniform (call, &words, 0, &numbers);
  flat = op_flat (&out);
  adj_q_copy (op_queue (call), &flat, &numbers);
  return TRUE;
}

static gboolean
randint_meta (AdjOpCall *call)
{
  AdjSize low = adj_op_call_size (call, 0, ADJ_SIZE (0));
  AdjSize high = adj_op_call_size (call, 1, ADJ_SIZE (0));
  AdjShape shape;

  if (!check_seed (call, 3))
    return FALSE;
  if (adj_size_test (op_symbols (call), ADJ_SIZE_LE, high, low))
    return adj_op_call_fail (call, "no integer is from low to below high");
  return op_new_shape (call, 2, &shape) && op_add_new (call, ADJ_DTYPE_I64, &shape);
}

static gboolean
randint_kernel (AdjOpCall *call)
{
  gint64 low = adj_op_call_int (call, 0, 0), high = adj_op_call_int (call, 1, 1);
  guint64 range = (guint64) high - (guint64) low;
  AdjKView out;
  guint32 seed;
  gint64 n;

  if (!op_output (call, 0, &out) || !read_seed (call, 3, &seed))
    return FALSE;
  n = adj_k_view_count (&out);
  for (gint64 i = 0; i < n; i++)
    {
      guint32 words[4];

      words_of (seed, i, words);
      ((gint64 *) out.data)[i] =
          (gint64) ((words[0] | (guint64) words[1] << 32) % range + (guint64) low);
    }
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/seeded.inc"
};

const OpFamily adj_family_seeded = { ops, G_N_ELEMENTS (ops) };
