/* SPDX-License-Identifier: MIT */
/* Shapes in rules: reshaping, and the shape before a reduction. */

#include "call/adj-context-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"
#include "rules/rule-arguments-private.h"

AdjTensor *
rule_reshape (AdjRuleCall *call, AdjTensor *tensor, const AdjValue *sizes)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize wanted[ADJ_MAX_RANK];
  guint rank = rule_sizes_of (sizes, wanted);
  AdjShape shape;

  if (tensor == NULL)
    return NULL;
  if (adj_shape_view (&adj_tensor_get_meta (tensor)->shape, symbols, wanted, rank, &shape, NULL))
    return ADJ_APPLY (call->cx, ADJ_OP_view, ADJ_TENSOR (tensor), *sizes);
  tensor = adj_apply_clone_contiguous (call->cx, tensor);
  if (tensor == NULL)
    return NULL;
  if (!adj_shape_view (&adj_tensor_get_meta (tensor)->shape, symbols, wanted, rank, &shape, NULL))
    {
      rule_call_fail (call, ADJ_ERROR_SHAPE, "has another number of elements");
      return NULL;
    }
  return ADJ_APPLY (call->cx, ADJ_OP__unsafe_view, ADJ_TENSOR (tensor),
                    adj_rule_list_sizes (call->arena, shape.size, shape.rank));
}

AdjSize
rule_reduced_numel (AdjRuleCall *call, const AdjSize *sizes, guint rank, guint32 dims)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjSize product = ADJ_SIZE (1);

  for (guint i = 0; i < rank; i++)
    if (((dims >> i) & 1) != 0 && !adj_size_same (sizes[i], ADJ_SIZE (1)))
      {
        AdjValue factors[] = { adj_value_from_size (product), adj_value_from_size (sizes[i]) };
        gboolean first = adj_size_same (product, ADJ_SIZE (1));
        AdjValue result;

        product = adj_size_mul (symbols, product, sizes[i]);
        result = adj_value_from_size (product);
        /* So that a trace multiplies in the same order. */
        if (!first && result.kind == ADJ_VALUE_SIZE)
          adj_context_note_builtin (call->cx, "operator.mul", factors, 2, &result);
      }
  return product;
}

AdjTensor *
rule_restore_dims (AdjRuleCall *call, AdjTensor *tensor, guint32 dims, guint rank)
{
  for (guint i = 0; i < rank && tensor != NULL; i++)
    if (((dims >> i) & 1) != 0)
      tensor = ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (tensor), ADJ_INT (i));
  return tensor;
}

AdjTensor *
rule_restore_reduced (AdjRuleCall *call,
                      AdjTensor *tensor,
                      const AdjValue *args,
                      guint n,
                      guint first, /* indices of dims and keepdim are first and first + 1 */
                      guint rank)
{
  if (rule_is_true (args, n, first + 1) || rank == 0 || !rule_names_dims (args, n, first))
    return tensor;
  /* PyTorch passes a single dimension unchanged. */
  if (adj_value_is_container (&args[first]) && args[first].n == 1)
    return ADJ_APPLY (call->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (tensor), args[first].items[0]);
  return rule_restore_dims (call, tensor, rule_dims_of (args, n, first, rank), rank);
}

gboolean
rule_main_diagonal (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjShape *shape = &rule_meta_of (call, &args[0])->shape;
  AdjSize length = shape->size[0], stride = ADJ_SIZE (0);

  if (shape->rank < 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs two dimensions or more");
  for (guint i = 0; i < shape->rank; i++)
    {
      if (!adj_size_same (shape->size[i], length) && shape->rank > 2)
        return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs dimensions of one size");
      if (adj_size_test (symbols, ADJ_SIZE_LT, shape->size[i], length))
        length = shape->size[i];
      stride = adj_size_add (symbols, stride, shape->stride[i]);
    }
  *out = ADJ_TENSOR (ADJ_APPLY (
      call->cx, ADJ_OP_as_strided, args[0], adj_rule_list_sizes (call->arena, &length, 1),
      adj_rule_list_sizes (call->arena, &stride, 1), adj_value_from_size (shape->offset)));
  return out->tensor != NULL;
}
