/* SPDX-License-Identifier: MIT */
/* Random integers and permutations. */

#include <math.h>

#include "adj-kernel-random.h"

#include "ops/adj-release-facts.h"
#include "ops/create-private.h"
#include "ops/random-private.h"
#include "ops/table-private.h"

static gboolean
check_integers (const AdjOpCall *call, AdjDType dtype)
{
  return (gint) dtype < (gint) ADJ_K_N ||
         adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "draws no integers of dtype %s",
                              adj_dtype_info (dtype)->torch_name);
}

/* The range of integers that @dtype represents exactly. */
static void
integer_range (AdjDType dtype, gint64 *least, gint64 *most)
{
  guint bits = adj_dtype_info (dtype)->n_bytes * 8;

  *least = dtype == ADJ_DTYPE_U8 || dtype == ADJ_DTYPE_BOOL ? 0 : -(G_MAXINT64 >> (64 - bits)) - 1;
  *most = dtype == ADJ_DTYPE_U8 ? 255 : dtype == ADJ_DTYPE_BOOL ? 1 : G_MAXINT64 >> (64 - bits);
  if (!adj_dtype_is_floating (dtype))
    return;
  *most = 1ll << (dtype == ADJ_DTYPE_F64 ? 53 : dtype == ADJ_DTYPE_F32 ? 24 : 8);
  if (dtype == ADJ_DTYPE_F16)
    *most = 1ll << 11;
  *least = -*most;
}

static gboolean
check_bounds (const AdjOpCall *call, gint64 low, gint64 high)
{
  return low < high ||
         adj_op_call_fail (
             call, "no integer is from %" G_GINT64_FORMAT " to below %" G_GINT64_FORMAT, low, high);
}

/* Reads the bounds; without an argument `low` it is 0. */
static gboolean
read_bounds (const AdjOpCall *call, gint64 *low, gint64 *high)
{
  gint at = op_find_option (call, "low");
  AdjSymbols *symbols = op_symbols (call);
  AdjSize zero = ADJ_SIZE (0);

  *low = *high = 0;
  adj_size_get_hint (symbols, adj_op_call_size (call, adj_op_call_find (call, "high"), zero), high);
  if (at >= 0)
    adj_size_get_hint (symbols, adj_op_call_size (call, (guint) at, zero), low);
  return check_bounds (call, *low, *high);
}

/* Whether @dtype represents all of them. */
static gboolean
check_range (const AdjOpCall *call, AdjDType dtype, gint64 low, gint64 high)
{
  gint64 least, most;

  integer_range (dtype, &least, &most);
  return (low >= least && high - 1 <= most) ||
         adj_op_call_fail (call, "%s does not hold all these integers",
                           adj_dtype_info (dtype)->torch_name);
}

static gboolean
randint_meta (AdjOpCall *call)
{
  AdjDType dtype = op_option_dtype (call, ADJ_DTYPE_I64);
  gint64 low, high;
  AdjShape shape;

  return check_integers (call, dtype) && read_bounds (call, &low, &high) &&
         op_new_shape (call, adj_op_call_find (call, "size"), &shape) &&
         check_range (call, dtype, low, high) && op_add_new (call, dtype, &shape);
}

static gboolean
randint_like_meta (AdjOpCall *call)
{
  gint64 low, high;

  return op_like_meta (call) && check_integers (call, call->results[0].meta.dtype) &&
         read_bounds (call, &low, &high) &&
         check_range (call, call->results[0].meta.dtype, low, high);
}

/* Numbers of 64 bits are drawn for ranges above 2^32 - 1, or by release from 2^28 on. */
static gboolean
draws_wide (const AdjOpCall *call, guint64 range)
{
  return range >> (adj_op_release_has (call, ADJ_FACT_DRAWN_LONG) ? 28 : 32) != 0;
}

static gboolean
draw_integers (AdjOpCall *call, gint64 low, gint64 high)
{
  AdjKQueue *queue = op_queue (call);
  guint64 range = (guint64) high - (guint64) low;
  AdjKView flat;

  if (!op_flat_output (call, 0, &flat))
    return FALSE;
  if (op_draws_for_gpu (call))
    return op_draw_integers_for_gpu (call, low, range, draws_wide (call, range));
  for (gint64 at = 0; at < flat.size[0]; at += OP_WORDS)
    {
      AdjKView part = op_part_of (&flat, at, MIN (OP_WORDS, flat.size[0] - at));
      AdjKView words, numbers;
      g_autofree gpointer drawn =
          op_draw_words (call, part.size[0] * (draws_wide (call, range) ? 2 : 1), &words);
      g_autofree gpointer memory = op_temporary (queue, &part, ADJ_K_I64, &numbers);

      adj_q_integers (queue, &numbers, &words, low, range);
      adj_q_copy (queue, &part, &numbers);
    }
  return TRUE;
}

static gboolean
randint_kernel (AdjOpCall *call)
{
  gint64 low, high;

  return read_bounds (call, &low, &high) && draw_integers (call, low, high);
}

/* The bound is data, known only to the kernel. */
static gboolean
randint_like_tensor_meta (AdjOpCall *call)
{
  if (!adj_size_is (op_symbols (call),
                    adj_shape_numel (&adj_op_call_meta (call, 1)->shape, op_symbols (call)), 1))
    return adj_op_call_fail (call, "high must be one number");
  return op_like_meta (call) && check_integers (call, call->results[0].meta.dtype);
}

static gboolean
read_high_float (const AdjOpCall *call, gint64 *high)
{
  g_autofree double *number = op_read_numbers (call, 1);

  if (number != NULL && !(fabs (*number) < 0x1p63))
    return adj_op_call_fail (call, "no integer is below %g", *number);
  *high = number != NULL ? (gint64) *number : 0;
  return number != NULL;
}

/* As integer, since a double does not represent all of them. */
static gboolean
read_high_integer (const AdjOpCall *call, gint64 *high)
{
  g_autofree gint64 *number = NULL;
  AdjKView view, dense;

  if (!op_input (call, 1, &view))
    return FALSE;
  number = op_temporary (NULL, &view, ADJ_K_I64, &dense);
  adj_q_copy (op_queue (call), &dense, &view);
  *high = *number;
  return TRUE;
}

static gboolean
randint_like_tensor_kernel (AdjOpCall *call)
{
  const gboolean is_float = adj_dtype_is_floating (adj_op_call_meta (call, 1)->dtype);
  gint64 high = 0;

  return (is_float ? read_high_float (call, &high) : read_high_integer (call, &high)) &&
         check_bounds (call, 0, high) && check_range (call, call->results[0].meta.dtype, 0, high) &&
         draw_integers (call, 0, high);
}

/* Above it PyTorch uses another algorithm. */
#define MAX_PERMUTATION (G_MAXUINT32 / 20)

static gboolean
randperm_meta (AdjOpCall *call)
{
  AdjDType dtype = op_option_dtype (call, ADJ_DTYPE_I64);
  gint64 least, most, n = 0;
  AdjShape shape;

  if (!check_integers (call, dtype) || !op_new_shape (call, 0, &shape))
    return FALSE;
  integer_range (dtype, &least, &most);
  adj_size_get_hint (op_symbols (call), shape.size[0], &n);
  if (shape.rank != 1 || n > MAX_PERMUTATION || n - 1 > most)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                "cannot put %" G_GINT64_FORMAT " numbers of dtype %s in order", n,
                                adj_dtype_info (dtype)->torch_name);
  return op_add_new (call, dtype, &shape);
}

static gboolean
randperm_kernel (AdjOpCall *call)
{
  AdjGenerator *generator = op_generator (call);
  g_autofree gint64 *order = NULL;
  AdjKView out, from;
  gint64 n;

  if (!op_flat_output (call, 0, &out))
    return FALSE;
  n = out.size[0];
  order = op_temporary (op_queue (call), &out, ADJ_K_I64, &from);
  adj_q_iota_i64 (op_queue (call), &from, 0, 1);
  for (gint64 i = 0; i + 1 < n; i++)
    {
      gint64 k = i + (gint64) (adj_generator_next32 (generator) % (guint64) (n - i));
      gint64 kept = order[i];

      order[i] = order[k];
      order[k] = kept;
    }
  adj_q_copy (op_queue (call), &out, &from);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/randint.inc"
};

const OpFamily adj_family_randint = { ops, G_N_ELEMENTS (ops) };
