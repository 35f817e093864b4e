/* SPDX-License-Identifier: MIT */
/* The builtin meshgrid of rules. */

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

static AdjSize
length_of (const AdjTensor *vector)
{
  const AdjShape *shape = &adj_tensor_get_meta (vector)->shape;

  return shape->rank == 0 ? ADJ_SIZE (1) : shape->size[0];
}

static gboolean
check_vectors (AdjRuleCall *call, const AdjValue *vectors)
{
  if (!adj_value_is_container (vectors) || vectors->n == 0 || vectors->n > ADJ_MAX_RANK)
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs vectors");
  for (guint i = 0; i < vectors->n; i++)
    if (vectors->items[i].kind != ADJ_VALUE_TENSOR ||
        adj_tensor_get_rank (vectors->items[i].tensor) > 1)
      return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs vectors");
  return TRUE;
}

/* @vector along dimension @dim, expanded to @sizes. */
static AdjTensor *
spread (AdjRuleCall *call, AdjTensor *vector, guint dim, const AdjSize *sizes, guint rank)
{
  AdjSize lone[ADJ_MAX_RANK];
  AdjTensor *view;

  for (guint i = 0; i < rank; i++)
    lone[i] = ADJ_SIZE (i == dim ? -1 : 1);
  view = ADJ_APPLY (call->cx, ADJ_OP_view, ADJ_TENSOR (vector),
                    adj_rule_list_sizes (call->arena, lone, rank));
  if (view == NULL)
    return NULL;
  return ADJ_APPLY (call->cx, ADJ_OP_expand, ADJ_TENSOR (view),
                    adj_rule_list_sizes (call->arena, sizes, rank));
}

/* args: vectors, and "xy" where the columns come first */
gboolean
rule_gridded (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjValue *vectors = &args[0];
  gboolean turned =
      args[1].kind == ADJ_VALUE_STRING && g_str_equal (args[1].text, "xy") && vectors->n > 1;
  guint from[ADJ_MAX_RANK];
  AdjSize sizes[ADJ_MAX_RANK];

  if (!check_vectors (call, vectors))
    return FALSE;
  for (guint i = 0; i < vectors->n; i++)
    {
      from[i] = turned && i < 2 ? 1 - i : i;
      sizes[i] = length_of (vectors->items[from[i]].tensor);
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = vectors->n };
  out->items = adj_arena_new0 (call->arena, AdjValue, out->n);
  for (guint i = 0; i < out->n; i++)
    {
      AdjTensor *grid = spread (call, vectors->items[from[i]].tensor, i, sizes, out->n);

      if (grid == NULL)
        return FALSE;
      out->items[from[i]] = ADJ_TENSOR (grid);
    }
  return TRUE;
}
