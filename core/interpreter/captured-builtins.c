/* SPDX-License-Identifier: MIT */
/* Functions in the graph of a captured backward other than operators: objects of the process
 * (hooks, backwards of custom functions), and accumulation into leaves (interpreter/SPEC.md §5.4).
 */

#include "call/adj-trace-wrapped.h"
#include "interpreter/builtins-private.h"
#include "ir/adj-value-internal.h"

/* call_hook (hook, *args, hook_type=…), call_backward (backward, saved, *grads). */
gboolean
adj_builtin_call_object (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjOpaque *object = n_args > 0 && args[0].kind == ADJ_VALUE_OPAQUE_OBJECT ? args[0].object : NULL;

  if (object == NULL || object->klass->call == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "the graph calls a function of the process that it was captured in, which "
                        "is not here");
      return FALSE;
    }
  return object->klass->call (object, cx, args + 1, n_args - 1, kwargs, out);
}

/* self_invoke (*args, fn=…, …): trace_wrapped, as recorded by a trace. */
gboolean
adj_builtin_self_invoke (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  const AdjValue *function = adj_value_find_member (kwargs, "fn");
  AdjValue rest = { .kind = ADJ_VALUE_DICT };
  gboolean done;

  if (function == NULL || function->kind != ADJ_VALUE_OPAQUE_OBJECT)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "the graph calls a function of the process that it was traced in, which is "
                        "not here");
      return FALSE;
    }
  rest.items = g_new0 (AdjValue, kwargs->n);
  for (guint i = 0; i + 1 < kwargs->n; i += 2)
    if (&kwargs->items[i + 1] != function)
      {
        rest.items[rest.n++] = kwargs->items[i];
        rest.items[rest.n++] = kwargs->items[i + 1];
      }
  done = adj_trace_wrapped (cx, function->object, args, n_args, &rest, out);
  g_free (rest.items);
  return done;
}

/* accumulate_grad_ (leaf, grad).  Without autograd, tensors have no gradient to accumulate into. */
gboolean
adj_builtin_accumulate (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  AdjTensor *grad;

  *out = ADJ_NONE;
  if (n_args != 2 || args[0].kind != ADJ_VALUE_TENSOR)
    return adj_builtin_fail (cx, "accumulate_grad_ takes a leaf and its gradient");
  if (args[1].kind != ADJ_VALUE_TENSOR && args[1].kind != ADJ_VALUE_NONE)
    return adj_builtin_fail (cx, "accumulate_grad_ adds a tensor");
  grad = args[1].kind == ADJ_VALUE_TENSOR ? args[1].tensor : NULL;
  for (AdjMode *mode = adj_context_get_mode (cx); mode != NULL; mode = mode->below)
    if (mode->klass->accumulate != NULL)
      return mode->klass->accumulate (mode, cx, args[0].tensor, grad);
  return TRUE;
}
