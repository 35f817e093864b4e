/* SPDX-License-Identifier: MIT */

/* Operators with an effect, in the order that tokens give them (interpreter/SPEC.md §5.5). */

#include "call/adj-context-internal.h"
#include "interpreter/builtins-private.h"
#include "ops/adj-op-table.h"

/* (token, results…): several results are spread, a list stays one, none is None. */
static AdjValue
spread (AdjTensor *token, const AdjValue *result)
{
  gboolean several = result->kind == ADJ_VALUE_TUPLE;
  guint n = several ? result->n : 1;
  g_autofree AdjValue *items = g_new0 (AdjValue, n + 1);

  items[0] = ADJ_TENSOR (adj_tensor_ref (token));
  for (guint i = 0; i < n; i++)
    items[i + 1] = adj_value_copy (several ? &result->items[i] : result);
  return adj_value_new_items (ADJ_VALUE_TUPLE, items, n + 1);
}

gboolean
adj_builtin_with_effects (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjTensor *token = NULL, *new_token;
  AdjValue rest, result;
  const AdjOp *op;

  if (n_args < 2 || args[1].kind != ADJ_VALUE_OP)
    return adj_builtin_fail (cx, "with_effects takes a token, an operator and its arguments");
  if (args[0].kind == ADJ_VALUE_TENSOR)
    token = args[0].tensor;
  else if (args[0].kind != ADJ_VALUE_NONE && args[0].kind != ADJ_VALUE_TOKEN)
    return adj_builtin_fail (cx, "with_effects: %s is no token",
                             adj_value_kind_name (args[0].kind));
  op = adj_op_find (args[1].text);
  if (op == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "cannot run '%s': Adjoint has no such operator", args[1].text);
      return FALSE;
    }
  rest = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_args - 2, .items = (AdjValue *) args + 2 };
  if (!adj_call_after (cx, token, op, &rest, kwargs, &result, &new_token))
    return FALSE;
  *out = spread (new_token, &result);
  return TRUE;
}
