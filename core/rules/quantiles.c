/* SPDX-License-Identifier: MIT */

/* torch.quantile and torch.nanquantile: values of sorted lines interpolated between two positions.
 */

#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

static AdjTensor *
apply (AdjRuleCall *call, AdjOpId op, AdjTensor *a, AdjValue b)
{
  return a != NULL ? ADJ_APPLY (call->cx, op, ADJ_TENSOR (a), b) : NULL;
}

/* Arguments: a tensor, the dimension or NONE for all of it, and whether that is kept as one of size
 * 1.  Result: lines along the last dimension, after the remaining sizes. */
gboolean
rule_lines (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjShape *shape = rule_shape_given (call, &args[0]);
  gboolean whole = args[1].kind == ADJ_VALUE_NONE || shape->rank == 0, keeps = args[2].boolean;
  gint64 dim = whole ? 0 : rule_wrapped_dim (call, rule_int_of (call, &args[1]), shape->rank);
  AdjTensor *lines = args[0].tensor;
  AdjSize left[ADJ_MAX_RANK + 1];
  guint rank = 0;

  if (adj_context_has_error (call->cx) || shape->rank + 1 > ADJ_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < shape->rank; i++)
    if (keeps || (!whole && i != dim))
      left[rank++] = whole || i == dim ? ADJ_SIZE (1) : shape->size[i];
  if (whole)
    lines = apply (call, ADJ_OP_flatten_using_ints, lines, ADJ_INT (0));
  else if (dim != shape->rank - 1)
    {
      lines = apply (call, ADJ_OP_unsqueeze, lines, ADJ_INT (-1));
      if (lines != NULL)
        lines = ADJ_APPLY (call->cx, ADJ_OP_transpose_int, ADJ_TENSOR (lines), ADJ_INT (dim),
                           ADJ_INT (-1));
    }
  if (lines == NULL)
    return FALSE;
  shape = &adj_tensor_get_meta (lines)->shape;
  left[rank] = shape->size[shape->rank - 1];
  lines = apply (call, ADJ_OP_view, lines, adj_rule_list_sizes (call->arena, left, rank + 1));
  *out = ADJ_TENSOR (lines);
  return lines != NULL;
}

/* Calls @op with @args and the dtype, layout and device of a factory like @like. */
static AdjTensor *
make_like (AdjRuleCall *call, AdjOpId op, AdjValue *args, guint n, AdjTensor *like, AdjDType dtype)
{
  AdjValue names[] = {
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (dtype),
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" },
    { .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED },
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = adj_tensor_get_meta (like)->device },
  };
  AdjValue result = ADJ_NONE;

  adj_call (call->cx, adj_op (op), &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n, .items = args },
            &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = G_N_ELEMENTS (names), .items = names },
            &result);
  return result.kind == ADJ_VALUE_TENSOR ? result.tensor : NULL;
}

static AdjTensor *
places (AdjRuleCall *call, AdjTensor *ranks)
{
  AdjValue args[] = { ADJ_TENSOR (ranks) };

  return ranks != NULL ? make_like (call, ADJ_OP_to_dtype_layout, args, 1, ranks, ADJ_DTYPE_I64)
                       : NULL;
}

/* The weight of the upper one of two positions at @ranks. */
static AdjTensor *
weigh (AdjRuleCall *call, AdjTensor *ranks, AdjTensor *below, AdjDType dtype, gboolean middle)
{
  if (ranks == NULL || below == NULL)
    return NULL;
  if (!middle)
    return apply (call, ADJ_OP_to_dtype, apply (call, ADJ_OP_sub_Tensor, ranks, ADJ_TENSOR (below)),
                  ADJ_DTYPE (dtype));
  return make_like (call, ADJ_OP_full_like, (AdjValue[]){ ADJ_TENSOR (ranks), ADJ_FLOAT (0.5) }, 2,
                    ranks, dtype);
}

/* The operator that rounds ranks to positions; ADJ_OP_view if two elements are interpolated. */
static AdjOpId
find_rounding (const char *interpolation)
{
  static const struct
  {
    const char *name;
    AdjOpId op;
  } roundings[] = {
    { "lower", ADJ_OP_floor },
    { "higher", ADJ_OP_ceil },
    { "nearest", ADJ_OP_round },
  };

  for (guint i = 0; i < G_N_ELEMENTS (roundings); i++)
    if (g_str_equal (roundings[i].name, interpolation))
      return roundings[i].op;
  return ADJ_OP_view;
}

/* @a + weights (@b − @a), in place as PyTorch does. */
static AdjTensor *
blend (AdjRuleCall *call, AdjTensor *a, AdjTensor *b, AdjTensor *weights)
{
  AdjValue args[] = { ADJ_TENSOR (a), ADJ_TENSOR (b), ADJ_TENSOR (weights) };
  AdjValue result = ADJ_NONE;

  if (a != NULL && b != NULL)
    adj_call (call->cx, adj_op_find ("torch.ops.aten.lerp_.Tensor"),
              &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = args }, NULL, &result);
  return result.kind == ADJ_VALUE_TENSOR ? result.tensor : NULL;
}

static AdjTensor *
pick (AdjRuleCall *call, AdjTensor *lines, AdjTensor *at)
{
  return ADJ_APPLY (call->cx, ADJ_OP_gather, ADJ_TENSOR (lines), ADJ_INT (-1), ADJ_TENSOR (at));
}

/* (nullable): the elements of @lines in ascending order. */
static AdjTensor *
sort_lines (AdjRuleCall *call, AdjTensor *lines)
{
  AdjValue args[] = { ADJ_TENSOR (lines) };
  AdjValue result;

  return adj_call (call->cx, adj_op (ADJ_OP_sort),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = args }, NULL, &result)
             ? result.items[0].tensor
             : NULL;
}

/* Moves the last dimension, of quantiles, to the front; removes it if there is only one. */
static AdjTensor *
bring_forward (AdjRuleCall *call, AdjTensor *values, gboolean one)
{
  if (!one)
    values = apply (call, ADJ_OP_unsqueeze, values, ADJ_INT (0));
  if (!one && values != NULL)
    values =
        ADJ_APPLY (call->cx, ADJ_OP_transpose_int, ADJ_TENSOR (values), ADJ_INT (0), ADJ_INT (-1));
  return apply (call, ADJ_OP_squeeze_dim, values, ADJ_INT (-1));
}

/* Arguments: lines, ranks between their sorted elements, the requested quantiles, and the
 * interpolation.  Quantiles are the first dimension of the result, unless it was a single number.
 */
gboolean
rule_between (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  AdjTensor *lines = args[0].tensor, *ranks = args[1].tensor, *below, *above = NULL, *values;
  AdjDType dtype = adj_tensor_get_meta (lines)->dtype;
  AdjOpId rounding = find_rounding (args[3].text);
  AdjTensor *weights = NULL;

  if (rounding != ADJ_OP_view)
    ranks = ADJ_APPLY (call->cx, rounding, ADJ_TENSOR (ranks));
  below = places (call, ranks);
  if (rounding == ADJ_OP_view)
    {
      weights = weigh (call, ranks, below, dtype, g_str_equal (args[3].text, "midpoint"));
      if (weights != NULL)
        above = places (call, ADJ_APPLY (call->cx, ADJ_OP_ceil, ADJ_TENSOR (ranks)));
    }
  lines = below != NULL ? sort_lines (call, lines) : NULL;
  values = lines != NULL ? pick (call, lines, below) : NULL;
  if (rounding == ADJ_OP_view)
    values = blend (call, values, above != NULL ? pick (call, lines, above) : NULL, weights);
  values = bring_forward (call, values, rule_shape_given (call, &args[2])->rank == 0);
  *out = ADJ_TENSOR (values);
  return values != NULL;
}
