/* SPDX-License-Identifier: MIT */
/* Steps of gradients that are algorithms. */

#include "rules/adj-apply.h"
#include "rules/steps-private.h"

/* -- arguments and results -- */

AdjTensor *
rule_tensor_of (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

const AdjShape *
rule_shape_of (const AdjTensor *x)
{
  return &adj_tensor_get_meta (x)->shape;
}

AdjSize
rule_size_of (const AdjTensor *x, gint dim)
{
  const AdjShape *shape = &adj_tensor_get_meta (x)->shape;

  return shape->rank >= (guint) -dim ? shape->size[(gint) shape->rank + dim] : ADJ_SIZE (1);
}

gboolean
rule_is_larger (AdjRuleCall *call, AdjSize a, AdjSize b)
{
  return adj_size_test (adj_context_get_symbols (call->cx), ADJ_SIZE_GT, a, b);
}

AdjValue
rule_value_of (AdjTensor *tensor)
{
  return tensor != NULL ? ADJ_TENSOR (tensor) : ADJ_NONE;
}

AdjValue
rule_list_of_sizes (AdjRuleCall *call, const AdjShape *shape)
{
  return adj_rule_list_sizes (call->arena, shape->size, shape->rank);
}

gboolean
rule_give_list (AdjRuleCall *call, AdjTensor *const *tensors, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n };
  out->items = adj_arena_new0 (call->arena, AdjValue, n);
  for (guint i = 0; i < n; i++)
    out->items[i] = rule_value_of (tensors[i]);
  return !adj_context_has_error (call->cx);
}

/* -- steps -- */

AdjTensor *
rule_apply_one (AdjRuleCall *call, AdjOpId op, AdjTensor *x)
{
  return x != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (x)) : NULL;
}

AdjTensor *
rule_apply_two (AdjRuleCall *call, AdjOpId op, AdjTensor *x, AdjTensor *y)
{
  return x != NULL && y != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (x), ADJ_TENSOR (y)) : NULL;
}

AdjTensor *
rule_apply_int (AdjRuleCall *call, AdjOpId op, AdjTensor *x, gint64 number)
{
  return x != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (x), ADJ_INT (number)) : NULL;
}

AdjTensor *
rule_matmul (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return rule_apply_two (call, ADJ_OP_matmul, x, y);
}

AdjTensor *
rule_times (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return rule_apply_two (call, ADJ_OP_mul_Tensor, x, y);
}

AdjTensor *
rule_add (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return rule_apply_two (call, ADJ_OP_add_Tensor, x, y);
}

AdjTensor *
rule_sub (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  return rule_apply_two (call, ADJ_OP_sub_Tensor, x, y);
}

AdjTensor *
rule_sum_given (AdjRuleCall *call, AdjTensor *x, AdjTensor *y)
{
  if (x == NULL || y == NULL)
    return x != NULL ? x : y;
  return rule_add (call, x, y);
}

AdjTensor *
rule_shaped (AdjRuleCall *call, AdjTensor *x, const AdjValue *sizes)
{
  return x != NULL ? rule_reshape (call, x, sizes) : NULL;
}

AdjTensor *
rule_neg (AdjRuleCall *call, AdjTensor *x)
{
  return rule_apply_one (call, ADJ_OP_neg, x);
}

AdjTensor *
rule_mH (AdjRuleCall *call, AdjTensor *x)
{
  return rule_apply_one (call, ADJ_OP_mH, x);
}

AdjTensor *
rule_triangle (AdjRuleCall *call, AdjTensor *x, gboolean upper, gboolean without)
{
  AdjOpId op = upper ? ADJ_OP_triu : ADJ_OP_tril;

  return without ? rule_apply_int (call, op, x, upper ? 1 : -1) : rule_apply_one (call, op, x);
}

AdjTensor *
rule_unsqueeze (AdjRuleCall *call, AdjTensor *x, gint64 dim)
{
  return rule_apply_int (call, ADJ_OP_unsqueeze, x, dim);
}

AdjTensor *
rule_scaled (AdjRuleCall *call, AdjTensor *x, double factor)
{
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (x), ADJ_FLOAT (factor))
                   : NULL;
}

AdjTensor *
rule_diagonal (AdjRuleCall *call, AdjTensor *x)
{
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_diagonal, ADJ_TENSOR (x), ADJ_INT (0),
                                ADJ_INT (-2), ADJ_INT (-1))
                   : NULL;
}

AdjTensor *
rule_put_diagonal (AdjRuleCall *call, AdjTensor *x, AdjTensor *on)
{
  return x != NULL && on != NULL
             ? ADJ_APPLY (call->cx, ADJ_OP_diagonal_scatter, ADJ_TENSOR (x), ADJ_TENSOR (on),
                          ADJ_INT (0), ADJ_INT (-2), ADJ_INT (-1))
             : NULL;
}

AdjTensor *
rule_slice (AdjRuleCall *call, AdjTensor *x, gint dim, AdjSize start, AdjSize end)
{
  return x != NULL ? ADJ_APPLY (call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (x), ADJ_INT (dim),
                                adj_value_from_size (start), adj_value_from_size (end))
                   : NULL;
}

AdjTensor *
rule_join (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, gint dim)
{
  AdjValue items[] = { ADJ_TENSOR (a), ADJ_TENSOR (b) };
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 2, .items = items };

  return a != NULL && b != NULL ? ADJ_APPLY (call->cx, ADJ_OP_cat, list, ADJ_INT (dim)) : NULL;
}
