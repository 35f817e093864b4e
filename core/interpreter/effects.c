/* SPDX-License-Identifier: MIT */

/* Operators with effects, ordered by tokens (interpreter/SPEC.md §5.5). */

#include "call/adj-context-internal.h"
#include "call/adj-object-call-internal.h"
#include "interpreter/adj-interpreter.h"
#include "interpreter/builtins-private.h"
#include "interpreter/effect-ops-private.h"

/* (token, results…): several results are items of their own, a list stays one, and no result is
 * None. */
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

/* Takes the object and the name of the method from the start of @args. */
static gboolean
take_object (AdjContext *cx, const AdjValue *args, guint n, AdjObject **object, const char **method)
{
  const char *type;

  if (n < 2 || args[0].kind != ADJ_VALUE_OPAQUE_OBJECT || args[1].kind != ADJ_VALUE_STRING)
    return adj_builtin_fail (cx, "Unsupported first arg type %s for call_torchbind",
                             n > 0 ? adj_value_kind_name (args[0].kind) : "None");
  *object = adj_object_from_opaque (args[0].object);
  *method = args[1].text;
  if (*object != NULL)
    return TRUE;
  type = adj_opaque_get_type (args[0].object);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "%s.%s: Adjoint has no such class, so that the object cannot be called",
                    type != NULL ? type : "an object of the process", *method);
  return FALSE;
}

static gboolean
call_object_after (AdjContext *cx,
                   AdjTensor *token,
                   const AdjValue *args,
                   guint n_args,
                   const AdjValue *kwargs,
                   AdjValue *result,
                   AdjTensor **new_token)
{
  AdjObject *object;
  const char *method;

  return take_object (cx, args, n_args, &object, &method) &&
         adj_object_call_after (cx, token, object, method, args + 2, n_args - 2, kwargs, result,
                                new_token);
}

static gboolean
call_op_after (AdjContext *cx,
               AdjTensor *token,
               const char *target,
               const AdjValue *args,
               const AdjValue *kwargs,
               AdjValue *result,
               AdjTensor **new_token)
{
  const AdjOp *op = adj_builtin_find_op (cx, target);

  if (op != NULL)
    return adj_call_after (cx, token, op, args, kwargs, result, new_token);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "cannot run '%s': Adjoint has no such operator", target);
  return FALSE;
}

/* Converts an argument: a subgraph to a function, and a structure kept as text to a tree spec. */
static AdjValue
take_argument (const AdjEffectOp *op, const AdjValue *args, guint index)
{
  const AdjValue *arg = &args->items[index];
  g_autoptr (AdjFunction) function = NULL;

  if (arg->kind == ADJ_VALUE_GRAPH)
    {
      function = adj_graph_function_new (arg->graph);
      return ADJ_OPAQUE (adj_leaf_function_new (function));
    }
  if (op->calls_function && index == ADJ_LEAF_SPEC && !adj_is_tree_spec (arg))
    return ADJ_OPAQUE (adj_tree_spec_new (args->n - MIN (args->n, ADJ_LEAF_N_BEFORE)));
  return adj_value_copy (arg);
}

gboolean
adj_interpret_effect (AdjContext *cx,
                      AdjTensor *token,
                      const AdjEffectOp *op,
                      const AdjValue *args,
                      const AdjValue *kwargs,
                      AdjValue *result,
                      AdjTensor **new_token)
{
  g_auto (AdjValue) taken = { .kind = ADJ_VALUE_TUPLE, .n = args->n };

  taken.items = g_new0 (AdjValue, args->n + 1);
  for (guint i = 0; i < args->n; i++)
    taken.items[i] = take_argument (op, args, i);
  if (new_token == NULL)
    return adj_call_effect (cx, op, taken.items, taken.n, kwargs, result);
  return adj_call_effect_after (cx, token, op, taken.items, taken.n, kwargs, result, new_token);
}

gboolean
adj_builtin_with_effects (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjTensor *token = NULL, *new_token = NULL;
  AdjValue rest, result;
  g_auto (AdjValue) owned = ADJ_NONE;
  const AdjEffectOp *effect;
  gboolean done;

  if (n_args < 2 || args[1].kind != ADJ_VALUE_OP)
    return adj_builtin_fail (cx, "with_effects takes a token, an operator and its arguments");
  if (args[0].kind == ADJ_VALUE_TENSOR)
    token = args[0].tensor;
  else if (args[0].kind != ADJ_VALUE_NONE && args[0].kind != ADJ_VALUE_TOKEN)
    return adj_builtin_fail (cx, "with_effects: %s is no token",
                             adj_value_kind_name (args[0].kind));
  rest = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = n_args - 2, .items = (AdjValue *) args + 2 };
  effect = adj_effect_op_find (args[1].text);
  if (g_str_equal (args[1].text, ADJ_TARGET_CALL_TORCHBIND))
    done = call_object_after (cx, token, rest.items, rest.n, kwargs, &result, &new_token);
  else if (effect != NULL)
    {
      done = adj_interpret_effect (cx, token, effect, &rest, kwargs, &owned, &new_token);
      result = owned;
    }
  else
    done = call_op_after (cx, token, args[1].text, &rest, kwargs, &result, &new_token);
  if (done)
    *out = spread (new_token, &result);
  return done;
}

/* call_torchbind (object, 'method', …). */
gboolean
adj_builtin_call_torchbind (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjObject *object;
  const char *method;
  AdjValue result;

  if (!take_object (cx, args, n_args, &object, &method) ||
      !adj_object_call (cx, object, method, args + 2, n_args - 2, kwargs, &result))
    return FALSE;
  *out = adj_value_copy (&result);
  return TRUE;
}
