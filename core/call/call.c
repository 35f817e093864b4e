/* SPDX-License-Identifier: MIT */

/* A call: arguments are bound, it enters the modes, and its results go to the innermost scope. */

#include <gio/gio.h>

#include "call/adj-object-call-internal.h"
#include "call/adj-op-internal.h"
#include "call/autocast-private.h"
#include "call/context-private.h"

static gboolean
call_mode (AdjMode *mode, AdjOpCall *call)
{
  if (mode == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "no mode is left to run it");
  return mode->klass->call (mode, call) && call->cx->error == NULL;
}

gboolean
adj_mode_call_below (AdjMode *mode, AdjOpCall *call)
{
  return call_mode (mode->below, call);
}

static AdjValue
take_result (AdjContext *cx, AdjOpResult *result)
{
  if (result->is_none || result->tensor == NULL)
    return result->plain;
  return ADJ_TENSOR (adj_scope_add (cx, g_steal_pointer (&result->tensor)));
}

/* Moves the results of @call to the innermost scope. */
static void
take_results (AdjContext *cx, AdjOpCall *call, AdjValue *result)
{
  AdjValue *items;

  *result = ADJ_NONE;
  if (!call->returns_list && call->schema->n_returns == 1 && call->n_results == 1)
    *result = take_result (cx, &call->results[0]);
  if (!call->returns_list && call->schema->n_returns < 2)
    return;

  items = g_new0 (AdjValue, MAX (call->n_results, 1));
  g_ptr_array_add (cx->items, items);
  for (guint i = 0; i < call->n_results; i++)
    items[i] = take_result (cx, &call->results[i]);
  result->kind = call->returns_list ? ADJ_VALUE_LIST : ADJ_VALUE_TUPLE;
  result->n = call->n_results;
  result->items = items;
}

/* Takes references to what @value holds for the innermost scope. */
static AdjValue
lend (AdjContext *cx, const AdjValue *value)
{
  AdjValue lent = *value;

  if (value->kind == ADJ_VALUE_TENSOR)
    adj_scope_add (cx, adj_keep (value->tensor));
  if (!adj_value_is_container (value))
    return lent;

  lent.items = g_new (AdjValue, MAX (value->n, 1));
  g_ptr_array_add (cx->items, lent.items);
  for (guint i = 0; i < value->n; i++)
    lent.items[i] = lend (cx, &value->items[i]);
  return lent;
}

/* Adds the name of the composite operator to an error of one of its calls. */
static void
name_error (const AdjOpCall *call)
{
  if (call->cx->error != NULL)
    g_prefix_error (&call->cx->error, "%s::%s: ", call->schema->ns, call->schema->name);
}

static gboolean
call_in_turn (AdjOpCall *call)
{
  gboolean done;

  adj_scope_begin (call->cx);
  done = call->cx->operators->call_in_turn (call);
  adj_scope_end (call->cx);
  if (!done)
    name_error (call);
  return done;
}

/* Calls a composite operator: makes its calls in a scope of their own. */
static gboolean
call_composite (AdjOpCall *call, AdjValue *result)
{
  AdjContext *cx = call->cx;
  g_auto (AdjValue) value = ADJ_NONE;
  gboolean done;

  adj_scope_begin (cx);
  done = cx->operators->decompose (call, &value);
  adj_scope_end (cx);
  if (done)
    *result = lend (cx, &value);
  else
    name_error (call);
  return done;
}

static gboolean run_call (AdjOpCall *call, AdjValue *result);

/* Calls the operator with autocast off, so that its inner calls are not cast again. */
static gboolean
call_autocast (AdjOpCall *call, AdjDeviceType device, AdjValue *result)
{
  AdjAutocast off = adj_context_get_autocast (call->cx, device), before;
  const AdjValue *args = call->args;
  AdjValue cast[ADJ_MAX_ARGUMENTS];
  gboolean done;

  off.on = FALSE;
  before = adj_context_set_autocast (call->cx, device, off);
  done = autocast_arguments (call, device, cast);
  call->args = cast;
  done = done && run_call (call, result);
  call->args = args;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    adj_value_clear (&cast[i]);
  adj_context_set_autocast (call->cx, device, before);
  return done;
}

static gboolean
run_call (AdjOpCall *call, AdjValue *result)
{
  AdjContext *cx = call->cx;
  AdjDeviceType device;
  gboolean done;

  call->schema = adj_op_get_schema (call->op);
  call->returns_list = call->schema->n_returns == 1 && call->schema->returns[0].type.is_list;
  if (autocast_applies (call, &device))
    return call_autocast (call, device, result);
  if ((call->op->flags & ADJ_OP_COMPOSITE) != 0)
    return call_composite (call, result);
  if (cx->operators->has_coupled_elements (call))
    return call_in_turn (call);
  done = call_mode (adj_context_get_entry (cx), call);
  if (done)
    take_results (cx, call, result);
  adj_op_call_clear (call);
  return done;
}

gboolean
adj_context_may_go_on (AdjContext *cx)
{
  GError *error = NULL;

  if (cx->error != NULL)
    return FALSE;
  if (g_cancellable_set_error_if_cancelled (cx->cancellable, &error))
    {
      adj_context_fail (cx, error->domain, error->code, "%s", error->message);
      g_error_free (error);
      return FALSE;
    }
  return TRUE;
}

AdjTensor *
adj_token_new (AdjContext *cx)
{
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 none = 0;

  adj_shape_init_ints (&meta.shape, 1, &none);
  return adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
}

/* Replaces the objects among @bound by copies, if the run must not change its inputs. */
static gboolean
take_copies (const AdjOpCall *call, AdjValue *bound)
{
  for (guint i = 0; i < adj_op_get_schema (call->op)->n_arguments; i++)
    {
      AdjObject *object = bound[i].kind == ADJ_VALUE_OPAQUE_OBJECT
                              ? adj_object_from_opaque (bound[i].object)
                              : NULL;

      if (object == NULL)
        continue;
      object = adj_context_get_object_copy (call->cx, object);
      if (object == NULL)
        return FALSE;
      bound[i] = ADJ_OBJECT (object);
    }
  return TRUE;
}

/* @bound: room for the arguments of @call. */
static gboolean
bind_and_run (AdjOpCall *call,
              const AdjValue *args,
              const AdjValue *kwargs,
              AdjValue *bound,
              AdjValue *result)
{
  GError *error = NULL;

  *result = ADJ_NONE;
  call->args = bound;
  if (!adj_context_may_go_on (call->cx))
    return FALSE;
  if (!adj_schema_bind (adj_op_get_schema (call->op), args, kwargs, bound, &error))
    {
      adj_context_fail (call->cx, error->domain, error->code, "%s", error->message);
      g_error_free (error);
      return FALSE;
    }
  return (call->cx->object_copies == NULL || take_copies (call, bound)) && run_call (call, result);
}

gboolean
adj_call (
    AdjContext *cx, const AdjOp *op, const AdjValue *args, const AdjValue *kwargs, AdjValue *result)
{
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  AdjOpCall call = { .cx = cx, .op = op };

  g_return_val_if_fail (cx != NULL && op != NULL && result != NULL, FALSE);

  return bind_and_run (&call, args, kwargs, bound, result);
}

gboolean
adj_call_after (AdjContext *cx,
                AdjTensor *token,
                const AdjOp *op,
                const AdjValue *args,
                const AdjValue *kwargs,
                AdjValue *result,
                AdjTensor **new_token)
{
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  AdjOpCall call = { .cx = cx, .op = op };

  g_return_val_if_fail (cx != NULL && op != NULL && result != NULL && new_token != NULL, FALSE);

  call.token = token != NULL ? token : adj_token_new (cx);
  call.new_token = *new_token = adj_token_new (cx);
  return bind_and_run (&call, args, kwargs, bound, result);
}

gboolean
adj_call_bound (AdjContext *cx, const AdjOp *op, const AdjValue *args, AdjValue *result)
{
  AdjOpCall call = { .cx = cx, .op = op, .args = args };

  g_return_val_if_fail (cx != NULL && op != NULL && result != NULL, FALSE);

  *result = ADJ_NONE;
  return adj_context_may_go_on (cx) && run_call (&call, result);
}
