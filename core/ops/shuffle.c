/* SPDX-License-Identifier: MIT */
/* pixel_shuffle, pixel_unshuffle and channel_shuffle: permutations of split dimensions. */

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Rank and factor; 0 after a failure. */
static gint64
read_factor (const AdjOpCall *call)
{
  const AdjShape *self = &adj_op_call_meta (call, 0)->shape;
  gint64 factor = adj_op_call_int (call, 1, 0);

  if (adj_context_has_error (call->cx))
    return 0;
  if (self->rank < 3 || self->rank + 2 > ADJ_MAX_RANK || factor < 1 || factor > G_MAXINT32)
    {
      adj_op_call_fail (call,
                        "needs three dimensions and a factor above 0, not %u and %" G_GINT64_FORMAT,
                        self->rank, factor);
      return 0;
    }
  return factor;
}

static gboolean
divides (const AdjOpCall *call, AdjSize size, gint64 factor)
{
  AdjSymbols *symbols = op_symbols (call);
  AdjSize whole = adj_size_mul (symbols, adj_size_floordiv (symbols, size, ADJ_SIZE (factor)),
                                ADJ_SIZE (factor));

  return adj_size_test (symbols, ADJ_SIZE_EQ, whole, size) ||
         adj_op_call_fail (call, "a size is no multiple of %" G_GINT64_FORMAT, factor);
}

static gboolean
add_result (AdjOpCall *call, const AdjSize *sizes)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);

  op_add_format (call, self->dtype, self->shape.rank, sizes, op_is_channels_last (call, 0));
  return TRUE;
}

static gboolean
shuffle_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  gint64 factor = read_factor (call);
  AdjShape shape;
  AdjSize *last;

  if (factor == 0)
    return FALSE;
  shape = adj_op_call_meta (call, 0)->shape;
  last = shape.size + shape.rank - 3;
  if (!divides (call, last[0], factor * factor))
    return FALSE;
  last[0] = adj_size_floordiv (symbols, last[0], ADJ_SIZE (factor * factor));
  last[1] = adj_size_mul (symbols, last[1], ADJ_SIZE (factor));
  last[2] = adj_size_mul (symbols, last[2], ADJ_SIZE (factor));
  return add_result (call, shape.size);
}

static gboolean
unshuffle_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  gint64 factor = read_factor (call);
  AdjShape shape;
  AdjSize *last;

  if (factor == 0)
    return FALSE;
  shape = adj_op_call_meta (call, 0)->shape;
  last = shape.size + shape.rank - 3;
  if (!divides (call, last[1], factor) || !divides (call, last[2], factor))
    return FALSE;
  last[0] = adj_size_mul (symbols, last[0], ADJ_SIZE (factor * factor));
  last[1] = adj_size_floordiv (symbols, last[1], ADJ_SIZE (factor));
  last[2] = adj_size_floordiv (symbols, last[2], ADJ_SIZE (factor));
  return add_result (call, shape.size);
}

/* @few: […, C r², H, W] viewed as […, C, H, r, W, r]. */
static void
split_channels (AdjKView *few, gint64 factor)
{
  gint at = few->rank - 3;
  gint64 channel = few->stride[at], row = few->stride[at + 1], column = few->stride[at + 2];
  gint64 height = few->size[at + 1], width = few->size[at + 2];
  const gint64 sizes[] = { few->size[at] / (factor * factor), height, factor, width, factor };
  const gint64 strides[] = { channel * factor * factor, row, channel * factor, column, channel };

  few->rank += 2;
  for (gint i = 0; i < 5; i++)
    {
      few->size[at + i] = sizes[i];
      few->stride[at + i] = strides[i];
    }
}

/* @many: […, C, H r, W r] viewed as […, C, H, r, W, r]. */
static void
split_pixels (AdjKView *many, gint64 factor)
{
  gint at = many->rank - 3;
  gint64 row = many->stride[at + 1], column = many->stride[at + 2];
  const gint64 sizes[] = { many->size[at], many->size[at + 1] / factor, factor,
                           many->size[at + 2] / factor, factor };
  const gint64 strides[] = { many->stride[at], row * factor, row, column * factor, column };

  many->rank += 2;
  for (gint i = 0; i < 5; i++)
    {
      many->size[at + i] = sizes[i];
      many->stride[at + i] = strides[i];
    }
}

static gboolean
shuffle_kernel (AdjOpCall *call)
{
  AdjKView few, many;

  if (!op_input (call, 0, &few) || !op_output (call, 0, &many))
    return FALSE;
  split_channels (&few, adj_op_call_int (call, 1, 1));
  split_pixels (&many, adj_op_call_int (call, 1, 1));
  adj_q_copy (op_queue (call), &many, &few);
  return TRUE;
}

static gboolean
unshuffle_kernel (AdjOpCall *call)
{
  AdjKView few, many;

  if (!op_input (call, 0, &many) || !op_output (call, 0, &few))
    return FALSE;
  split_channels (&few, adj_op_call_int (call, 1, 1));
  split_pixels (&many, adj_op_call_int (call, 1, 1));
  adj_q_copy (op_queue (call), &few, &many);
  return TRUE;
}

/* -- channels -- */

static gboolean
channel_shuffle_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  gint64 groups = adj_op_call_int (call, 1, 0);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (self->shape.rank < 3 || self->shape.rank + 1 > ADJ_MAX_RANK || groups < 1)
    return adj_op_call_fail (call, "needs three dimensions and a number of groups above 0");
  return divides (call, self->shape.size[1], groups) && add_result (call, self->shape.size);
}

/* Splits channels into two dimensions, the first with stride @group_stride. */
static void
part_channels (AdjKView *view, gint64 groups, gint64 group_stride, gint64 member_stride)
{
  gint64 members = view->size[1] / groups;

  for (gint i = view->rank++; i > 2; i--)
    {
      view->size[i] = view->size[i - 1];
      view->stride[i] = view->stride[i - 1];
    }
  view->size[1] = groups;
  view->stride[1] = group_stride;
  view->size[2] = members;
  view->stride[2] = member_stride;
}

static gboolean
channel_shuffle_kernel (AdjOpCall *call)
{
  gint64 groups = adj_op_call_int (call, 1, 1);
  AdjKView self, out;

  if (!op_input (call, 0, &self) || !op_output (call, 0, &out))
    return FALSE;
  part_channels (&self, groups, self.stride[1] * (self.size[1] / groups), self.stride[1]);
  part_channels (&out, groups, out.stride[1], out.stride[1] * groups);
  adj_q_copy (op_queue (call), &out, &self);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/shuffle.inc"
};

const OpFamily adj_family_shuffle = { ops, G_N_ELEMENTS (ops) };
