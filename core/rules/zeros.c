/* SPDX-License-Identifier: MIT */
/* Zero tangents (`_efficientzerotensor`): PyTorch's operators on them that need no computation,
 * and the tensor that all others get. */

#include <string.h>

#include "call/adj-context-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-forward.h"
#include "rules/rule-private.h"
#include "tensor/adj-promotion.h"

static gboolean
is_zeros (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_META;
}

static const AdjTensorMeta *
meta_of (const AdjValue *value)
{
  return is_zeros (value)                  ? value->meta
         : value->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (value->tensor)
                                           : NULL;
}

static AdjValue
string (const char *text)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (text), .text = text };
}

/* Calls @op (@x, dtype=…, layout=strided, device=…) with the values of @like; %NULL: the context
 * is in error. */
static AdjTensor *
call_of_kind (AdjContext *cx, AdjOpId op, AdjValue x, const AdjTensorMeta *like)
{
  AdjValue names[] = {
    string ("dtype"),  ADJ_DTYPE (like->dtype),
    string ("layout"), { .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED },
    string ("device"), { .kind = ADJ_VALUE_DEVICE, .device = like->device },
  };
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &x };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = G_N_ELEMENTS (names), .items = names };
  AdjValue out;

  return adj_call (cx, adj_op (op), &args, &kwargs, &out) ? out.tensor : NULL;
}

static AdjValue
sizes_of (AdjContext *cx, const AdjShape *shape)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = shape->rank };

  list.items = adj_scope_alloc (cx, MAX (shape->rank, 1) * sizeof *list.items);
  for (guint i = 0; i < shape->rank; i++)
    list.items[i] = adj_value_from_size (shape->size[i]);
  return list;
}

static AdjTensor *
expand (AdjContext *cx, AdjTensor *x, const AdjShape *to)
{
  return x != NULL ? ADJ_APPLY (cx, ADJ_OP_expand, ADJ_TENSOR (x), sizes_of (cx, to)) : NULL;
}

AdjTensor *
adj_forward_make_zeros (AdjContext *cx, const AdjTensorMeta *meta)
{
  const AdjValue no_sizes = { .kind = ADJ_VALUE_LIST };

  return expand (cx, call_of_kind (cx, ADJ_OP_zeros, no_sizes, meta), &meta->shape);
}

AdjTensor *
adj_forward_make_efficient_zeros (AdjContext *cx, const AdjTensorMeta *meta)
{
  return call_of_kind (cx, ADJ_OP__efficientzerotensor, sizes_of (cx, &meta->shape), meta);
}

static gboolean
make_tensor (AdjRuleCall *call, AdjValue *zeros)
{
  const AdjForwardZeros make = call->zeros != NULL ? call->zeros : adj_forward_make_zeros;

  *zeros = ADJ_TENSOR (make (call->cx, zeros->meta));
  return zeros->tensor != NULL;
}

/* (nullable): the metadata of the result of a pointwise operator. */
static AdjTensorMeta *
broadcast (AdjRuleCall *call, const AdjValue *args, guint n)
{
  AdjTensorMeta *out = adj_arena_new0 (call->arena, AdjTensorMeta, 1);
  AdjPromotion promotion = ADJ_PROMOTION_INIT;
  const AdjShape *shapes[2];
  guint n_shapes = 0;

  for (guint i = 0; i < n && i < G_N_ELEMENTS (shapes); i++)
    {
      const AdjTensorMeta *meta = meta_of (&args[i]);

      if (meta == NULL)
        continue;
      if (n_shapes == 0)
        *out = *meta;
      adj_promotion_add_tensor (&promotion, meta->dtype, meta->shape.rank);
      shapes[n_shapes++] = &meta->shape;
    }
  out->dtype = adj_promotion_result (&promotion);
  return adj_shape_pointwise (&out->shape, adj_context_get_symbols (call->cx), shapes, n_shapes,
                              NULL)
             ? out
             : NULL;
}

static gboolean
give_zeros (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_META, .meta = broadcast (call, args, n) };
  return out->meta != NULL;
}

/* Returns a copy of the operand that is not zero, in the shape of the sum. */
static gboolean
give_other (AdjRuleCall *call, const AdjOp *op, const AdjValue *args, AdjValue *out)
{
  const guint other = is_zeros (&args[0]) ? 1 : 0;
  const AdjTensorMeta *meta = broadcast (call, args, 2);
  AdjTensor *copy = meta != NULL ? expand (call->cx, args[other].tensor, &meta->shape) : NULL;

  if (copy != NULL)
    copy = call_of_kind (call->cx, ADJ_OP__to_copy, ADJ_TENSOR (copy), meta);
  if (copy != NULL && other == 1 && op == adj_op (ADJ_OP_sub_Tensor))
    copy = ADJ_APPLY (call->cx, ADJ_OP_mul_Scalar, ADJ_TENSOR (copy), ADJ_INT (-1));
  *out = ADJ_TENSOR (copy);
  return copy != NULL;
}

gboolean
rule_apply_to_zeros (AdjRuleCall *call, const AdjOp *op, AdjValue *args, guint n, AdjValue *out)
{
  const gboolean product = op == adj_op (ADJ_OP_mul_Tensor) || op == adj_op (ADJ_OP_mul_Scalar);
  const gboolean quotient = op == adj_op (ADJ_OP_div_Tensor);
  const gboolean sum = op == adj_op (ADJ_OP_add_Tensor) || op == adj_op (ADJ_OP_sub_Tensor);
  const gboolean first = n > 0 && is_zeros (&args[0]);
  const gboolean second = n > 1 && is_zeros (&args[1]);

  if (((product || quotient) && first) || (product && second) || (sum && first && second))
    return give_zeros (call, args, n, out);
  if (sum && (first || second))
    return give_other (call, op, args, out);
  for (guint i = 0; i < n; i++)
    if (is_zeros (&args[i]) && !make_tensor (call, &args[i]))
      return TRUE;
  return FALSE;
}
