/* SPDX-License-Identifier: MIT */
/* TwoTensor, the composite tensor class of PyTorch's own tests. */

#include "support/two-tensor.h"

static const char *const names[] = { "a", "b" };

static AdjTensor *
coerce_like (AdjContext *cx, AdjTensor *tangent, const AdjValue *constant)
{
  AdjTensor *inner[] = { adj_composite_get_inner (tangent, 0),
                         adj_composite_get_inner (tangent, 1) };

  /* A tangent with the constant 7 cannot be converted. */
  if (adj_composite_get_constant (tangent)->integer == 7)
    return NULL;
  return adj_composite_new (cx, &two_tensor_class, inner, constant, NULL);
}

const AdjCompositeClass two_tensor_class = {
  .name = "TwoTensor",
  .n_inner = 2,
  .inner_names = names,
  .call = adj_composite_call_each,
  .coerce_like = coerce_like,
};

AdjTensor *
two_tensor_new (AdjContext *cx, AdjTensor *a, AdjTensor *b)
{
  AdjTensor *inner[] = { a, b };

  return adj_composite_new (cx, &two_tensor_class, inner, NULL, NULL);
}

AdjTensor *
two_tensor_new_with (AdjContext *cx, AdjTensor *a, AdjTensor *b, gint64 constant)
{
  AdjTensor *inner[] = { a, b };

  return adj_composite_new (cx, &two_tensor_class, inner, &ADJ_INT (constant), NULL);
}
