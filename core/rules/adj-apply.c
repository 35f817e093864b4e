/* SPDX-License-Identifier: MIT */
/* Calls an operator by id with values, and two compositions that many callers need. */

#include "rules/adj-apply.h"

#include "ops/adj-op-id.h"

AdjTensor *
adj_apply (AdjContext *cx, AdjOpId op, const AdjValue *args, guint n)
{
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args };
  AdjValue result;

  if (!adj_call (cx, adj_op (op), &tuple, NULL, &result) || result.kind != ADJ_VALUE_TENSOR)
    return NULL;
  return result.tensor;
}

AdjTensor *
adj_apply_clone_contiguous (AdjContext *cx, AdjTensor *tensor)
{
  AdjValue kwargs[2] = {
    { .kind = ADJ_VALUE_STRING, .n = 13, .text = "memory_format" },
    { .kind = ADJ_VALUE_MEMORY_FORMAT, .format = ADJ_MEMORY_FORMAT_CONTIGUOUS },
  };
  AdjValue result;

  if (!adj_call (cx, adj_op (ADJ_OP_clone),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (tensor) },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = kwargs }, &result))
    return NULL;
  return result.tensor;
}

AdjTensor *
adj_apply_sum_to (AdjContext *cx, AdjTensor *tensor, const AdjShape *to)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjShape *from = &adj_tensor_get_meta (tensor)->shape;
  guint leading = from->rank - to->rank;
  AdjValue dims[ADJ_MAX_RANK], sizes[ADJ_MAX_RANK];
  guint n = 0;

  if (to->rank == 0)
    return ADJ_APPLY (cx, ADJ_OP_sum, ADJ_TENSOR (tensor));
  for (guint i = 0; i < from->rank; i++)
    if (i < leading || (adj_size_is (symbols, to->size[i - leading], 1) &&
                        !adj_size_is (symbols, from->size[i], 1)))
      dims[n++] = ADJ_INT (i);
  if (n > 0)
    tensor =
        ADJ_APPLY (cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (tensor),
                   ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = dims }), ADJ_BOOL (TRUE));
  if (tensor == NULL || leading == 0)
    return tensor;
  for (guint i = 0; i < to->rank; i++)
    sizes[i] = adj_value_from_size (to->size[i]);
  return ADJ_APPLY (cx, ADJ_OP_view, ADJ_TENSOR (tensor),
                    ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = to->rank, .items = sizes }));
}
