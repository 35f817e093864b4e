/* SPDX-License-Identifier: MIT */

/* Tensors split into parts, and lists of tensors brought to one rank. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

static AdjTensor *
shaped (AdjRuleCall *call, AdjTensor *x, const AdjSize *sizes, guint n)
{
  AdjValue list = adj_rule_list_sizes (call->arena, sizes, n);

  return rule_reshape (call, x, &list);
}

/* @x as a tensor of at least @n dimensions, 1 to 3: a vector becomes [1, n] or [1, n, 1], a matrix
 * [n, m, 1]. */
static AdjTensor *
with_dims (AdjRuleCall *call, AdjTensor *x, guint n)
{
  static const AdjSize ones[] = { ADJ_SIZE (1), ADJ_SIZE (1), ADJ_SIZE (1) };
  guint rank = adj_tensor_get_rank (x);

  if (rank == 0)
    return shaped (call, x, ones, n);
  if (rank == 1 && n > 1)
    x = ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (x), ADJ_INT (0));
  if (rank < 3 && n == 3 && x != NULL)
    x = ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (x), ADJ_INT (-1));
  return x;
}

static AdjTensor *
as_column (AdjRuleCall *call, AdjTensor *x)
{
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;
  AdjSize sizes[] = { adj_shape_numel (shape, adj_context_get_symbols (call->cx)), ADJ_SIZE (1) };

  return shape->rank <= 1 ? shaped (call, x, sizes, 2) : x;
}

/* Begins a list result with an entry for each of @tensors; fails unless that is a list of tensors.
 */
static gboolean
begin_list (AdjRuleCall *call, const AdjValue *tensors, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = tensors->n };
  if (!adj_value_is_container (tensors))
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a list of tensors");
  for (guint i = 0; i < tensors->n; i++)
    if (tensors->items[i].kind != ADJ_VALUE_TENSOR)
      return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a list of tensors");
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  return TRUE;
}

/* args: a list of tensors and how many dimensions each has at least, 0 for columns */
gboolean
rule_at_least (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  guint rank = (guint) args[1].integer;

  if (!begin_list (call, &args[0], out))
    return FALSE;
  for (guint i = 0; i < out->n; i++)
    {
      AdjTensor *x = args[0].items[i].tensor;

      x = rank == 0 ? as_column (call, x) : with_dims (call, x, rank);
      if (x == NULL)
        return FALSE;
      out->items[i] = ADJ_TENSOR (x);
    }
  return TRUE;
}

/* args: a list of tensors */
gboolean
rule_flat_each (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  if (!begin_list (call, &args[0], out))
    return FALSE;
  for (guint i = 0; i < out->n; i++)
    {
      AdjTensor *x = ADJ_APPLY (call->cx, ADJ_OP_flatten_using_ints, args[0].items[i]);

      if (x == NULL)
        return FALSE;
      out->items[i] = ADJ_TENSOR (x);
    }
  return TRUE;
}

/* The sizes that all tensors broadcast to. */
static gboolean
common_sizes (AdjRuleCall *call, const AdjValue *tensors, AdjShape *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  GError *error = NULL;

  *out = (AdjShape){ .rank = 0 };
  for (guint i = 0; i < tensors->n; i++)
    {
      const AdjShape *pair[] = { out, &adj_tensor_get_meta (tensors->items[i].tensor)->shape };
      AdjShape shape;

      if (!adj_shape_pointwise (&shape, symbols, pair, 2, &error))
        {
          rule_call_fail (call, ADJ_ERROR_SHAPE, "%s", error->message);
          g_error_free (error);
          return FALSE;
        }
      *out = shape;
    }
  return TRUE;
}

/* args: a list of tensors */
gboolean
rule_spread_all (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjShape shape;

  if (!begin_list (call, &args[0], out) || !common_sizes (call, &args[0], &shape))
    return FALSE;
  for (guint i = 0; i < out->n; i++)
    {
      AdjTensor *x = args[0].items[i].tensor;

      if (!adj_shape_same_sizes (&adj_tensor_get_meta (x)->shape, &shape, symbols))
        x = ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (x),
                       adj_rule_list_sizes (call->arena, shape.size, shape.rank));
      if (x == NULL)
        return FALSE;
      out->items[i] = ADJ_TENSOR (x);
    }
  return TRUE;
}

/* -- parts -- */

static gboolean
cut (AdjRuleCall *call, const AdjValue *x, gint64 dim, AdjSize start, AdjSize end, AdjValue *out)
{
  AdjTensor *part = ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, *x, ADJ_INT (dim),
                               adj_value_from_size (start), adj_value_from_size (end));

  *out = ADJ_TENSOR (part);
  return part != NULL;
}

/* args: a tensor, how many parts, the dimension */
gboolean
rule_cut_evenly (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjTensorMeta *meta = rule_meta_of (call, &args[0]);
  gint64 count = args[1].kind == ADJ_VALUE_INT ? args[1].integer : 0, dim = args[2].integer, size,
         start = 0;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (count <= 0 || count > G_MAXINT16)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "makes a positive number of parts");
  if (!adj_size_is_int (meta->shape.size[dim]))
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "cuts sizes that are known");
  size = meta->shape.size[dim].word;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = (guint) count };
  out->items = adj_arena_new0 (call->arena, AdjValue, (guint) count);
  for (gint64 i = 0; i < count; i++)
    {
      gint64 length = size / count + (i < size % count);

      if (!cut (call, &args[0], dim, ADJ_SIZE (start), ADJ_SIZE (start + length), &out->items[i]))
        return FALSE;
      start += length;
    }
  return TRUE;
}

/* args: a tensor, where parts begin, the dimension */
gboolean
rule_cut_at (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjTensorMeta *meta = rule_meta_of (call, &args[0]);
  guint count = adj_value_is_container (&args[1]) ? args[1].n : 0;
  AdjSize start = ADJ_SIZE (0), end;

  if (adj_context_has_error (call->cx))
    return FALSE;
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = count + 1 };
  out->items = adj_arena_new0 (call->arena, AdjValue, count + 1);
  for (guint i = 0; i <= count; i++)
    {
      end = meta->shape.size[args[2].integer];
      if (i < count && !adj_value_get_size (&args[1].items[i], &end))
        return rule_call_fail (call, ADJ_ERROR_SHAPE, "cuts at places that are integers");
      if (!cut (call, &args[0], args[2].integer, start, end, &out->items[i]))
        return FALSE;
      start = end;
    }
  return TRUE;
}
