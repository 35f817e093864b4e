/* SPDX-License-Identifier: MIT */

/* The first steps of torch.masked functions: the mask expanded to the sizes of the input, and the
 * input with masked elements replaced by a number. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

/* (nullable): the mask as bool, expanded to the sizes of @x. */
static AdjTensor *
spread_mask (AdjRuleCall *call, AdjTensor *x, AdjTensor *mask)
{
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;
  const AdjTensorMeta *meta = adj_tensor_get_meta (mask);

  if (!adj_shape_same_sizes (shape, &meta->shape, adj_context_get_symbols (call->cx)))
    {
      mask = ADJ_APPLY (call->cx, ADJ_OP_clone, ADJ_TENSOR (mask));
      mask = mask != NULL ? ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (mask),
                                       adj_rule_list_sizes (call->arena, shape->size, shape->rank))
                          : NULL;
    }
  if (mask == NULL || meta->dtype == ADJ_DTYPE_BOOL)
    return mask;
  return ADJ_APPLY (call->cx, ADJ_OP_to_dtype, ADJ_TENSOR (mask), ADJ_DTYPE (ADJ_DTYPE_BOOL));
}

static gboolean
check (AdjRuleCall *call, const AdjValue *args)
{
  return (args[0].kind == ADJ_VALUE_TENSOR &&
          (args[1].kind == ADJ_VALUE_TENSOR || args[1].kind == ADJ_VALUE_NONE)) ||
         rule_call_fail (call, ADJ_ERROR_SHAPE, "needs a tensor and a mask");
}

/* args: a tensor, and NONE or its mask */
gboolean
rule_mask_for (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = ADJ_NONE;
  if (!check (call, args) || args[1].kind == ADJ_VALUE_NONE)
    return !adj_context_has_error (call->cx);
  *out = ADJ_TENSOR (spread_mask (call, args[0].tensor, args[1].tensor));
  return out->tensor != NULL;
}

/* args: a tensor, NONE or its mask, and what stands where it is not set */
gboolean
rule_unmasked (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjValue number[2] = { args[2] }, fill, mask;

  *out = args[0];
  if (!check (call, args) || args[1].kind == ADJ_VALUE_NONE)
    return !adj_context_has_error (call->cx);
  number[1] = ADJ_DTYPE (adj_tensor_get_meta (args[0].tensor)->dtype);
  if (!rule_mask_for (call, args, 2, &mask) || !rule_literal (call, number, 2, &fill))
    return FALSE;
  *out = ADJ_TENSOR (ADJ_APPLY (call->cx, ADJ_OP_where_self, mask, args[0], fill));
  return out->tensor != NULL;
}

/* args: NONE, a dimension or a list of them, and the rank */
gboolean
rule_sorted_dims (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  gint64 rank = args[1].integer, bound = MAX (rank, 1);
  guint n_named = adj_value_is_container (&args[0]) ? args[0].n
                  : args[0].kind == ADJ_VALUE_NONE  ? 0
                                                    : 1;
  const AdjValue *dims = adj_value_is_container (&args[0]) ? args[0].items : &args[0];
  AdjSize sorted[ADJ_MAX_RANK];
  guint32 named = 0;
  guint count = 0;

  for (guint i = 0; i < n_named; i++)
    {
      if (dims[i].kind != ADJ_VALUE_INT || dims[i].integer < -bound || dims[i].integer >= bound)
        return rule_call_fail (call, ADJ_ERROR_SHAPE, "names a dimension that there is not");
      named |= 1u << (dims[i].integer + (dims[i].integer < 0 ? bound : 0));
    }
  for (gint64 i = 0; i < (n_named > 0 ? bound : rank); i++)
    if (n_named == 0 || ((named >> i) & 1) != 0)
      sorted[count++] = ADJ_SIZE (i);
  *out = adj_rule_list_sizes (call->arena, sorted, count);
  return TRUE;
}

/* args: x, dims in ascending order, keepdim. */
gboolean
rule_prod_over (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *x = args[0].tensor;

  for (guint i = args[1].n; i-- > 0 && x != NULL;)
    x = ADJ_APPLY (call->cx, ADJ_OP_prod_dim_int, ADJ_TENSOR (x), args[1].items[i], args[2]);
  *out = ADJ_TENSOR (x);
  return x != NULL;
}
