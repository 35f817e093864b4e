/* SPDX-License-Identifier: MIT */
/* Concatenation and repetition of tensors. */

#include "ops/kernel-private.h"
#include "ops/table-private.h"
#include "tensor/adj-promotion.h"

static const AdjTensorMeta *
item_meta (const AdjOpCall *call, guint i)
{
  return adj_tensor_get_meta (call->args[0].items[i].tensor);
}

static AdjDType
promote_items (const AdjOpCall *call)
{
  AdjPromotion promotion = ADJ_PROMOTION_INIT;

  for (guint i = 0; i < call->args[0].n; i++)
    adj_promotion_add_tensor (&promotion, item_meta (call, i)->dtype,
                              item_meta (call, i)->shape.rank);
  return adj_promotion_result (&promotion);
}

static gboolean
check_items (const AdjOpCall *call)
{
  if (!adj_value_is_container (&call->args[0]) || call->args[0].n == 0)
    return adj_op_call_fail (call, "needs at least one tensor");
  return TRUE;
}

/* -- cat -- */

/* Empty tensors of rank 1 are skipped, whatever the rank of the others. */
static gboolean
is_skipped (const AdjOpCall *call, guint i)
{
  const AdjShape *shape = &item_meta (call, i)->shape;

  return shape->rank == 1 && adj_size_is (op_symbols (call), shape->size[0], 0);
}

/* Index of the first tensor that is not skipped; 0 if all are. */
static guint
find_pattern (const AdjOpCall *call)
{
  for (guint i = 0; i < call->args[0].n; i++)
    if (!is_skipped (call, i))
      return i;
  return 0;
}

static gboolean
check_item (const AdjOpCall *call, const AdjShape *pattern, const AdjShape *item, gint dim)
{
  gboolean fits = item->rank == pattern->rank;

  for (guint i = 0; fits && i < item->rank; i++)
    fits = (gint) i == dim ||
           adj_size_test (op_symbols (call), ADJ_SIZE_EQ, item->size[i], pattern->size[i]);
  if (!fits)
    {
      g_autofree char *a = op_sizes_text (call, pattern);
      g_autofree char *b = op_sizes_text (call, item);

      return adj_op_call_fail (call, "shapes %s and %s do not fit together", a, b);
    }
  return TRUE;
}

/* channels_last if every tensor suggests it. */
static AdjMemoryFormat
common_format (const AdjOpCall *call)
{
  AdjMemoryFormat format = ADJ_MEMORY_FORMAT_CONTIGUOUS;

  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjMemoryFormat own;

      if (is_skipped (call, i))
        continue;
      own = adj_shape_suggest_format (&item_meta (call, i)->shape, op_symbols (call));
      if (own == ADJ_MEMORY_FORMAT_CONTIGUOUS)
        return own;
      format = own;
    }
  return format;
}

static gboolean
cat_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjShape *pattern;
  AdjSize length = ADJ_SIZE (0);
  AdjShape shape;
  guint dim;

  if (!check_items (call))
    return FALSE;
  pattern = &item_meta (call, find_pattern (call))->shape;
  dim = op_dim (call, 1, pattern->rank);
  if (pattern->rank == 0)
    return adj_op_call_fail (call, "tensors without dimensions cannot be put in a row");
  for (guint i = 0; i < call->args[0].n; i++)
    {
      const AdjShape *item = &item_meta (call, i)->shape;

      if (is_skipped (call, i))
        continue;
      if (!check_item (call, pattern, item, (gint) dim))
        return FALSE;
      length = adj_size_add (symbols, length, item->size[dim]);
    }
  adj_shape_init (&shape, symbols, pattern->rank, pattern->size);
  shape.size[dim] = length;
  adj_shape_set_format (&shape, symbols, common_format (call), &shape);
  adj_op_call_add (call, promote_items (call), &shape);
  return TRUE;
}

/* Copies tensor @i of the list argument to position @at of @out along @dim. */
static gboolean
put_item (const AdjOpCall *call, guint i, const AdjKView *out, gint dim, gint64 at)
{
  AdjTensor *tensor = call->args[0].items[i].tensor;
  AdjKView from;
  AdjKView to = *out;

  if (!op_view (call, tensor, adj_tensor_get_meta (tensor), &from))
    return FALSE;
  to.size[dim] = from.size[dim];
  to.data = (char *) out->data + (gsize) (at * out->stride[dim]) * adj_k_type_get_size (out->type);
  adj_q_copy (op_queue (call), &to, &from);
  return TRUE;
}

static gboolean
cat_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, call->results[0].meta.shape.rank);
  AdjKView out;
  gint64 at = 0;

  if (!op_output (call, 0, &out))
    return FALSE;
  for (guint i = 0; i < call->args[0].n; i++)
    {
      if (is_skipped (call, i))
        continue;
      if (!put_item (call, i, &out, (gint) dim, at))
        return FALSE;
      at += item_meta (call, i)->shape.size[dim].word;
    }
  return TRUE;
}

/* -- stack -- */

static gboolean
stack_meta (AdjOpCall *call)
{
  const AdjShape *pattern;
  AdjSize sizes[ADJ_MAX_RANK];
  guint dim;

  if (!check_items (call))
    return FALSE;
  pattern = &item_meta (call, 0)->shape;
  if (pattern->rank == ADJ_MAX_RANK)
    return adj_op_call_fail (call, "the tensors have %d dimensions already", ADJ_MAX_RANK);
  dim = op_dim (call, 1, pattern->rank + 1);
  for (guint i = 0; i < call->args[0].n; i++)
    if (!check_item (call, pattern, &item_meta (call, i)->shape, -1))
      return FALSE;
  for (guint i = 0; i <= pattern->rank; i++)
    sizes[i] = i == dim ? ADJ_SIZE (call->args[0].n) : pattern->size[i > dim ? i - 1 : i];
  op_add_contiguous (call, promote_items (call), pattern->rank + 1, sizes);
  return TRUE;
}

static gboolean
stack_kernel (AdjOpCall *call)
{
  guint dim = op_dim (call, 1, call->results[0].meta.shape.rank);
  AdjKView out, slot;

  if (!op_output (call, 0, &out))
    return FALSE;
  slot = out;
  slot.rank--;
  for (gint i = (gint) dim; i < slot.rank; i++)
    {
      slot.size[i] = out.size[i + 1];
      slot.stride[i] = out.stride[i + 1];
    }
  for (guint i = 0; i < call->args[0].n; i++)
    {
      AdjTensor *tensor = call->args[0].items[i].tensor;
      AdjKView from;

      if (!op_view (call, tensor, adj_tensor_get_meta (tensor), &from))
        return FALSE;
      slot.data =
          (char *) out.data + (gsize) (i * out.stride[dim]) * adj_k_type_get_size (out.type);
      adj_q_copy (op_queue (call), &slot, &from);
    }
  return TRUE;
}

/* -- along a diagonal -- */

/* The rows and columns of @shape as a matrix. */
static void
matrix_sizes (const AdjShape *shape, AdjSize sizes[2])
{
  sizes[0] = shape->rank == 2 ? shape->size[0] : ADJ_SIZE (1);
  sizes[1] = shape->rank > 0 ? shape->size[shape->rank - 1] : ADJ_SIZE (1);
}

static gboolean
block_diag_meta (AdjOpCall *call)
{
  AdjSymbols *symbols = op_symbols (call);
  const AdjValue *list = &call->args[0];
  AdjSize total[2] = { ADJ_SIZE (0), ADJ_SIZE (0) }, sizes[2];
  AdjDType dtype = ADJ_DTYPE_NONE;

  for (guint i = 0; i < list->n; i++)
    {
      const AdjTensorMeta *meta = adj_tensor_get_meta (list->items[i].tensor);

      if (meta->shape.rank > 2)
        return adj_op_call_fail (call, "takes matrices, not tensors of rank %u", meta->shape.rank);
      if (dtype != ADJ_DTYPE_NONE && meta->dtype != dtype)
        return adj_op_call_fail (call, "the matrices have different dtypes");
      dtype = meta->dtype;
      matrix_sizes (&meta->shape, sizes);
      for (guint k = 0; k < 2; k++)
        total[k] = adj_size_add (symbols, total[k], sizes[k]);
    }
  if (dtype == ADJ_DTYPE_NONE)
    return adj_op_call_fail (call, "needs at least one matrix");
  op_add_contiguous (call, dtype, 2, total);
  return TRUE;
}

static gboolean
block_diag_kernel (AdjOpCall *call)
{
  const AdjValue *list = &call->args[0];
  gint64 row = 0, column = 0;
  AdjKView out;

  op_clear (call, 0);
  if (!op_output (call, 0, &out))
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    {
      AdjTensor *tensor = list->items[i].tensor;
      AdjKView block = out, from;
      AdjSize sizes[2];

      if (!op_view (call, tensor, adj_tensor_get_meta (tensor), &from))
        return FALSE;
      matrix_sizes (&adj_tensor_get_meta (tensor)->shape, sizes);
      block.size[0] = sizes[0].word;
      block.size[1] = sizes[1].word;
      block.data = (char *) out.data + (gsize) (row * out.stride[0] + column * out.stride[1]) *
                                           adj_k_type_get_size (out.type);
      from.stride[1] = from.rank > 0 ? from.stride[from.rank - 1] : 0;
      from.stride[0] = from.rank == 2 ? from.stride[0] : 0;
      from.size[0] = block.size[0];
      from.size[1] = block.size[1];
      from.rank = 2;
      if (adj_k_view_count (&block) > 0)
        adj_q_copy (op_queue (call), &block, &from);
      row += block.size[0];
      column += block.size[1];
    }
  return TRUE;
}

/* -- repeat -- */

static gboolean
repeat_meta (AdjOpCall *call)
{
  const AdjTensorMeta *self = adj_op_call_meta (call, 0);
  AdjSize repeats[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, repeats);
  guint extra = rank - self->shape.rank;

  if (rank < self->shape.rank || rank + self->shape.rank > ADJ_MAX_RANK)
    return adj_op_call_fail (call, "%u repeats do not fit a tensor of rank %u", rank,
                             self->shape.rank);
  for (guint i = 0; i < rank; i++)
    {
      if (adj_size_test (op_symbols (call), ADJ_SIZE_LT, repeats[i], ADJ_SIZE (0)))
        return adj_op_call_fail (call, "a number of repeats is negative");
      if (i >= extra)
        repeats[i] = adj_size_mul (op_symbols (call), repeats[i], self->shape.size[i - extra]);
    }
  op_add_contiguous (call, self->dtype, rank, repeats);
  return TRUE;
}

/* Dimension d of size r·n is viewed as (r, n); the copy broadcasts over r. */
static gboolean
repeat_kernel (AdjOpCall *call)
{
  AdjSize repeats[ADJ_MAX_RANK];
  guint rank = adj_op_call_sizes (call, 1, repeats);
  AdjKView in, out, from, to;
  gint n = 0;

  if (!op_input (call, 0, &in) || !op_output (call, 0, &out))
    return FALSE;
  from = in;
  to = out;
  for (guint i = 0; i < rank; i++)
    {
      gint own = (gint) i - ((gint) rank - in.rank);

      to.size[n] = from.size[n] = repeats[i].word;
      to.stride[n] = own >= 0 ? in.size[own] * out.stride[i] : out.stride[i];
      from.stride[n++] = 0;
      if (own < 0)
        continue;
      to.size[n] = from.size[n] = in.size[own];
      to.stride[n] = out.stride[i];
      from.stride[n++] = in.stride[own];
    }
  from.rank = to.rank = n;
  adj_q_copy (op_queue (call), &to, &from);
  return TRUE;
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/assemble.inc"
};

const OpFamily adj_family_assemble = { ops, G_N_ELEMENTS (ops) };
