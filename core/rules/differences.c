/* SPDX-License-Identifier: MIT */

/* torch.gradient: central differences along dimensions, one-sided ones at their ends. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

typedef struct
{
  AdjRuleCall *call;
  AdjValue self;
  gint64 dim;
  AdjValue spacing; /* a number */
} Line;

/* self[start:end] along the line; @end 0: to its end. */
static AdjTensor *
part (const Line *line, gint64 start, gint64 end)
{
  return ADJ_APPLY (line->call->cx, ADJ_OP_slice_Tensor, line->self, ADJ_INT (line->dim),
                    ADJ_INT (start), end != 0 ? ADJ_INT (end) : ADJ_NONE);
}

static AdjTensor *
apply (const Line *line, AdjOpId op, AdjTensor *a, AdjValue b)
{
  if (a == NULL || (b.kind == ADJ_VALUE_TENSOR && b.tensor == NULL))
    return NULL;
  return ADJ_APPLY (line->call->cx, op, ADJ_TENSOR (a), b);
}

/* (@right − @left) / spacing; evaluates @left first. */
static AdjTensor *
difference (const Line *line, gint64 left, gint64 left_end, gint64 right, gint64 right_end)
{
  AdjTensor *low = part (line, left, left_end), *high = part (line, right, right_end);

  return apply (line, ADJ_OP_div_Scalar, apply (line, ADJ_OP_sub_Tensor, high, ADJ_TENSOR (low)),
                line->spacing);
}

/* @weight times the element at position @at, which may be negative. */
static AdjTensor *
weighted (const Line *line, gint64 at, double weight)
{
  return apply (line, ADJ_OP_mul_Scalar, part (line, at, at == -1 ? 0 : at + 1),
                ADJ_FLOAT (weight));
}

/* The one-sided difference at an end, by a parabola through three points. */
static AdjTensor *
end_of_parabola (const Line *line, gboolean first)
{
  gint64 places[] = { first ? 0 : -3, first ? 1 : -2, first ? 2 : -1 };
  double weights[] = { first ? -1.5 : 0.5, 2, first ? 0.5 : 1.5 };
  AdjTensor *c = weighted (line, places[2], weights[2]);
  AdjTensor *b = weighted (line, places[1], weights[1]);
  AdjTensor *a = weighted (line, places[0], weights[0]);
  AdjTensor *sum = apply (line, first ? ADJ_OP_add_Tensor : ADJ_OP_sub_Tensor, a, ADJ_TENSOR (b));

  sum = apply (line, first ? ADJ_OP_sub_Tensor : ADJ_OP_add_Tensor, sum, ADJ_TENSOR (c));
  return apply (line, ADJ_OP_div_Scalar, sum, line->spacing);
}

static AdjTensor *
differentiate (const Line *line, gint64 edge_order)
{
  AdjTensor *center = difference (line, 0, -2, 2, 0);
  AdjTensor *first = edge_order == 1 ? difference (line, 0, 1, 1, 2) : end_of_parabola (line, TRUE);
  AdjTensor *last =
      edge_order == 1 ? difference (line, -2, -1, -1, 0) : end_of_parabola (line, FALSE);
  AdjValue items[3] = { ADJ_TENSOR (first), ADJ_NONE, ADJ_TENSOR (last) };

  center = apply (line, ADJ_OP_div_Scalar, center, ADJ_INT (2));
  items[1] = ADJ_TENSOR (center);
  if (first == NULL || center == NULL || last == NULL)
    return NULL;
  return ADJ_APPLY (line->call->cx, ADJ_OP_cat,
                    ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 3, .items = items }),
                    ADJ_INT (line->dim));
}

/* The spacing for dimension @i of @n; a list has one for each. */
static gboolean
spacing_of (AdjRuleCall *call, const AdjValue *spacing, guint i, guint n, AdjValue *out)
{
  *out = ADJ_FLOAT (1);
  if (adj_value_is_container (spacing) && spacing->n != n)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "has %u spacings for %u dimensions", spacing->n,
                           n);
  if (spacing->kind != ADJ_VALUE_NONE)
    *out = adj_value_is_container (spacing) ? spacing->items[i] : *spacing;
  if (out->kind != ADJ_VALUE_INT && out->kind != ADJ_VALUE_FLOAT)
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "knows spacings that are numbers");
  return TRUE;
}

/* args: a tensor, NONE or a spacing or one for each dimension, the dimensions, and the order of
 * the differences at the ends */
gboolean
rule_differences (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjValue *dims = &args[2];

  if (args[3].integer != 1 && args[3].integer != 2)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "has edges of order 1 or 2");
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = dims->n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (dims->n, 1));
  for (guint i = 0; i < dims->n; i++)
    {
      Line line = { .call = call, .self = args[0], .dim = dims->items[i].integer };
      AdjTensor *result;

      if (!spacing_of (call, &args[1], i, dims->n, &line.spacing))
        return FALSE;
      result = differentiate (&line, args[3].integer);
      if (result == NULL)
        return FALSE;
      out->items[i] = ADJ_TENSOR (result);
    }
  return TRUE;
}
