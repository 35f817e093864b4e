/* SPDX-License-Identifier: MIT */
/* Hooks that a trace does not enter: they are recorded as calls in its graph and run with it
 * (call/SPEC.md §8). */

#include "autograd/autograd-private.h"
#include "call/adj-trace-wrapped.h"
#include "ops/adj-op-id.h"

typedef struct
{
  AdjOpaque parent;
  AdjHook *hook; /* (owned) */
} DeferredHook;

static gboolean
deferred_call (AdjOpaque *object,
               AdjContext *cx,
               const AdjValue *args,
               guint n_args,
               const AdjValue *kwargs,
               AdjValue *out)
{
  const AdjHook *hook = ((const DeferredHook *) object)->hook;
  AdjTensor *grad = n_args == 1 && args[0].kind == ADJ_VALUE_TENSOR ? args[0].tensor : NULL;
  AdjTensor *new;

  if (grad == NULL)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "hook '%s' takes one gradient",
                        hook_get_name (hook));
      return FALSE;
    }
  new = ((AdjTensorHookFunc) hook->func) (cx, grad, hook->data);
  if (new == NULL || new == grad)
    new = ADJ_APPLY (cx, ADJ_OP_alias, ADJ_TENSOR (grad));
  *out = new != NULL ? ADJ_TENSOR (adj_tensor_ref (new)) : ADJ_NONE;
  return new != NULL && !adj_context_has_error (cx);
}

static char *
deferred_describe (const AdjOpaque *object)
{
  return g_strdup (hook_get_name (((const DeferredHook *) object)->hook));
}

static void
deferred_finalize (AdjOpaque *object)
{
  adj_hook_unref (((DeferredHook *) object)->hook);
}

static const AdjOpaqueClass deferred_class = {
  .name = "hook",
  .call = deferred_call,
  .describe = deferred_describe,
  .finalize = deferred_finalize,
};

AdjTensor *
hook_defer (AdjContext *cx, AdjHook *hook, AdjTensor *grad)
{
  DeferredHook *object = (DeferredHook *) adj_opaque_new (&deferred_class, sizeof (DeferredHook));
  AdjValue result;
  gboolean done;

  object->hook = adj_hook_ref (hook);
  done = adj_trace_wrapped (cx, &object->parent, &ADJ_TENSOR (grad), 1, NULL, &result);
  adj_opaque_unref (&object->parent);
  return done ? adj_scope_add (cx, result.tensor) : NULL;
}
