/* SPDX-License-Identifier: MIT */
/* trace_wrapped: a function that a trace of a backward calls by reference instead of looking
 * into it. */

#include "call/adj-trace-wrapped.h"

#include "call/context-private.h"

/* -- functions as objects -- */

typedef struct
{
  AdjOpaque parent;
  char *name;
  AdjWrappedFunc func;
  gpointer data;
  GDestroyNotify destroy; /* (nullable) */
} WrappedFunction;

static gboolean
function_call (AdjOpaque *object,
               AdjContext *cx,
               const AdjValue *args,
               guint n_args,
               const AdjValue *kwargs,
               AdjValue *out)
{
  const WrappedFunction *self = (const WrappedFunction *) object;
  AdjTensor *grad;

  if (n_args != 1 || args[0].kind != ADJ_VALUE_TENSOR)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "trace_wrapped: '%s' takes one tensor, but got %u arguments", self->name,
                        n_args);
      return FALSE;
    }
  grad = self->func (cx, args[0].tensor, self->data);
  *out = grad != NULL ? ADJ_TENSOR (adj_tensor_ref (grad)) : ADJ_NONE;
  return !adj_context_has_error (cx);
}

static char *
function_describe (const AdjOpaque *object)
{
  return g_strdup (((const WrappedFunction *) object)->name);
}

static void
function_finalize (AdjOpaque *object)
{
  WrappedFunction *self = (WrappedFunction *) object;

  if (self->destroy != NULL)
    self->destroy (self->data);
  g_free (self->name);
}

static const AdjOpaqueClass function_class = {
  .name = "function",
  .call = function_call,
  .describe = function_describe,
  .finalize = function_finalize,
};

AdjOpaque *
adj_wrapped_function_new (const char *name,
                          AdjWrappedFunc func,
                          gpointer data,
                          GDestroyNotify destroy)
{
  WrappedFunction *self;

  g_return_val_if_fail (name != NULL && func != NULL, NULL);

  self = (WrappedFunction *) adj_opaque_new (&function_class, sizeof (WrappedFunction));
  self->name = g_strdup (name);
  self->func = func;
  self->data = data;
  self->destroy = destroy;
  return &self->parent;
}

/* -- through the modes -- */

static gboolean
call_mode (AdjMode *mode, AdjWrappedCall *call)
{
  while (mode != NULL && mode->klass->wrapped == NULL)
    mode = mode->below;
  if (mode == NULL)
    {
      adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                        "trace_wrapped: no mode is left to run it");
      return FALSE;
    }
  return mode->klass->wrapped (mode, call) && !adj_context_has_error (call->cx);
}

gboolean
adj_mode_call_wrapped_below (AdjMode *mode, AdjWrappedCall *call)
{
  return call_mode (mode->below, call);
}

gboolean
adj_call_wrapped (AdjContext *cx,
                  AdjOpaque *function,
                  const AdjValue *args,
                  guint n_args,
                  const AdjValue *kwargs,
                  AdjValue *result)
{
  AdjWrappedCall call = {
    cx, function, args, n_args, kwargs != NULL ? kwargs : &ADJ_NONE, ADJ_NONE
  };
  gboolean done;

  g_return_val_if_fail (cx != NULL && function != NULL && result != NULL, FALSE);

  *result = ADJ_NONE;
  if (!adj_context_may_go_on (cx))
    return FALSE;
  done = call_mode (adj_context_get_entry (cx), &call);
  if (done)
    *result = adj_value_steal (&call.result);
  adj_value_clear (&call.result);
  return done;
}

gboolean
adj_trace_wrapped (AdjContext *cx,
                   AdjOpaque *function,
                   const AdjValue *args,
                   guint n_args,
                   const AdjValue *kwargs,
                   AdjValue *result)
{
  gboolean enabled, done;

  g_return_val_if_fail (cx != NULL, FALSE);

  enabled = adj_context_set_grad_enabled (cx, FALSE);
  done = adj_call_wrapped (cx, function, args, n_args, kwargs, result);
  adj_context_set_grad_enabled (cx, enabled);
  return done;
}

/* -- running -- */

const AdjValue *
adj_wrapped_call_get_grad (const AdjWrappedCall *call)
{
  guint at = call->n_args > 0 && call->args[0].kind == ADJ_VALUE_NONE ? 1 : 0;

  return at < call->n_args ? &call->args[at] : NULL;
}

/* The first property in which @b differs from @a; %NULL: none. */
static const char *
find_difference (const AdjTensorMeta *a, const AdjTensorMeta *b, AdjSymbols *symbols)
{
  if (!adj_shape_same_sizes (&a->shape, &b->shape, symbols))
    return "size";
  for (guint i = 0; i < a->shape.rank; i++)
    if (!adj_size_test (symbols, ADJ_SIZE_EQ, a->shape.stride[i], b->shape.stride[i]))
      return "stride";
  return a->dtype != b->dtype ? "dtype" : NULL;
}

static gboolean
fail_difference (const AdjWrappedCall *call,
                 const char *what,
                 const AdjTensorMeta *expected,
                 const AdjTensorMeta *got,
                 const char *who)
{
  g_autofree char *name = adj_opaque_describe (call->function);
  g_autoptr (GString) a = g_string_new (NULL);
  g_autoptr (GString) b = g_string_new (NULL);

  adj_tensor_meta_print (expected, adj_context_get_symbols (call->cx), a);
  adj_tensor_meta_print (got, adj_context_get_symbols (call->cx), b);
  adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "trace_wrapped: %s mismatch: '%s' %s %s, %s", what, name, who, a->str, b->str);
  return FALSE;
}

/* Checks that the tensors of @value have the metadata of those of @like. */
static gboolean
check_result (const AdjWrappedCall *call, const AdjValue *like, const AdjValue *value)
{
  g_autofree char *name = NULL;
  const char *what;

  if (like->kind != value->kind || (adj_value_is_container (like) && like->n != value->n))
    {
      name = adj_opaque_describe (call->function);
      adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "trace_wrapped: '%s' was given %s and gives %s", name,
                        adj_value_kind_name (like->kind), adj_value_kind_name (value->kind));
      return FALSE;
    }
  for (guint i = 0; adj_value_is_container (like) && i < like->n; i++)
    if (!check_result (call, &like->items[i], &value->items[i]))
      return FALSE;
  if (like->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  if (like->tensor == value->tensor)
    {
      name = adj_opaque_describe (call->function);
      adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "trace_wrapped: '%s' gives its argument itself: it must give a new tensor",
                        name);
      return FALSE;
    }
  what = find_difference (adj_tensor_get_meta (like->tensor), adj_tensor_get_meta (value->tensor),
                          adj_context_get_symbols (call->cx));
  return what == NULL || fail_difference (call, what, adj_tensor_get_meta (like->tensor),
                                          adj_tensor_get_meta (value->tensor), "was given, gave");
}

typedef struct
{
  AdjTensor *tensor; /* (unowned) */
  AdjTensorMeta meta;
} Seen;

static gboolean
note_tensor (const AdjValue *leaf, gpointer data)
{
  Seen seen = { leaf->tensor, { 0 } };

  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  seen.meta = *adj_tensor_get_meta (leaf->tensor);
  g_array_append_val ((GArray *) data, seen);
  return TRUE;
}

static gboolean
check_arguments (const AdjWrappedCall *call, const GArray *seen)
{
  for (guint i = 0; i < seen->len; i++)
    {
      const Seen *before = &g_array_index (seen, Seen, i);
      const AdjTensorMeta *now = adj_tensor_get_meta (before->tensor);
      const char *what = find_difference (&before->meta, now, adj_context_get_symbols (call->cx));

      if (what != NULL)
        return fail_difference (call, what, &before->meta, now, "changed its argument, it was, is");
    }
  return TRUE;
}

gboolean
adj_wrapped_call_run (AdjWrappedCall *call)
{
  const AdjValue *grad = adj_wrapped_call_get_grad (call);
  g_autoptr (GArray) seen = g_array_new (FALSE, FALSE, sizeof (Seen));
  const AdjPlace place = *adj_context_get_place (call->cx);
  gboolean done;

  if (call->function->klass->call == NULL || grad == NULL)
    {
      adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "trace_wrapped: there is nothing to call, or nothing to call it with");
      return FALSE;
    }
  for (guint i = 0; i < call->n_args; i++)
    adj_value_foreach (&call->args[i], note_tensor, seen);
  done = call->function->klass->call (call->function, call->cx, call->args, call->n_args,
                                      call->kwargs, &call->result);
  adj_context_set_place (call->cx, &place);
  return done && check_arguments (call, seen) && check_result (call, grad, &call->result);
}
