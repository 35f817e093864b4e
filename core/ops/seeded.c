/* SPDX-License-Identifier: MIT */
/* Random numbers from seeds that are tensors: as Inductor's code for the CPU computes them, with a
 * counter per element.  PyTorch's own kernels of these operators ignore the seed. */

#include <math.h>

#include "call/adj-philox-internal.h"
#include "call/adj-philox.h"
#include "ops/create-private.h"
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

static gboolean
seed_kernel (AdjOpCall *call)
{
  AdjGenerator *generator = adj_context_get_generator (call->cx);
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  *(gint64 *) out.data = (gint64) (adj_generator_next64 (generator) % (guint64) G_MAXINT64);
  return TRUE;
}

/* From the lowest to below the highest int64, as Inductor's code draws them; PyTorch's own kernel
 * draws those that are not negative. */
static gboolean
seeds_kernel (AdjOpCall *call)
{
  AdjGenerator *generator = adj_context_get_generator (call->cx);
  AdjKView out;
  gint64 n;

  if (!op_output (call, 0, &out))
    return FALSE;
  n = adj_k_view_count (&out);
  for (gint64 i = 0; i < n; i++)
    ((gint64 *) out.data)[i] =
        (gint64) (adj_generator_next64 (generator) % G_MAXUINT64 + ((guint64) 1 << 63));
  return TRUE;
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
  *(gint64 *) out.data = ((const gint64 *) seeds.data)[index * seeds.stride[0]];
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

/* Inductor passes the low half on. */
static gboolean
read_seed (const AdjOpCall *call, guint arg, guint32 *seed)
{
  AdjKView view;

  if (!op_input (call, arg, &view))
    return FALSE;
  *seed = (guint32) * (const guint64 *) view.data;
  return TRUE;
}

/* The words of element @i. */
static void
words_of (guint32 seed, gint64 i, guint32 words[4])
{
  const guint32 key[] = { seed, 0 };
  const guint32 counter[] = { (guint32) i, 0, 0, 0 };

  adj_philox_block (key, counter, words);
}

/* A number of [0, 1) of 31 bits. */
static float
uniform_of (guint32 word)
{
  return (float) (word & 0x7fffffff) * 4.6566127342e-10f;
}

static float
normal_of (const guint32 words[4])
{
  float radius = 1 - uniform_of (words[0]);
  float angle = 1 - uniform_of (words[1]);

  return (float) (sqrt (-2 * log (radius)) * cos (2 * G_PI * angle));
}

static gboolean
random_kernel (AdjOpCall *call)
{
  gboolean normal = is_normal (call);
  AdjKView out;
  guint32 seed;
  gint64 n;

  if (!op_output (call, 0, &out) || !read_seed (call, 1, &seed))
    return FALSE;
  n = adj_k_view_count (&out);
  for (gint64 i = 0; i < n; i++)
    {
      guint32 words[4];
      float number;

      words_of (seed, i, words);
      number = normal ? normal_of (words) : uniform_of (words[0]);
      if (out.type == ADJ_K_F64) /* of a run in float64 */
        ((double *) out.data)[i] = number;
      else
        ((float *) out.data)[i] = number;
    }
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
