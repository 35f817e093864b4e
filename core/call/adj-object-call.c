/* SPDX-License-Identifier: MIT */
/* A call of a method through the modes, and the method itself. */

#include "call/adj-object-call.h"

#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-object-call-internal.h"
#include "call/context-private.h"
#include "call/object-private.h"

gboolean
adj_object_call_fail (const AdjObjectCall *call, AdjError code, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  adj_context_fail (call->cx, ADJ_ERROR, code, "%s.%s: %s", call->object->header->name, call->name,
                    message);
  return FALSE;
}

gboolean
adj_object_call_has_effect (const AdjObjectCall *call)
{
  return !call->method->pure;
}

/* -- the method -- */

static gboolean
is_tensor (const AdjValue *leaf, gpointer data)
{
  return leaf->kind == ADJ_VALUE_TENSOR;
}

/* Unlike for arguments, a number is no valid Tensor result. */
static gboolean
fits (const AdjType *type, const AdjValue *item)
{
  if (item->kind == ADJ_VALUE_NONE)
    return type->optional;
  if (type->kind == ADJ_TYPE_KIND_TENSOR && !adj_value_foreach (item, is_tensor, NULL))
    return FALSE;
  return adj_type_accepts (type, item) &&
         (type->is_list == (item->kind == ADJ_VALUE_LIST || item->kind == ADJ_VALUE_TUPLE));
}

static gboolean
check_result (const AdjObjectCall *call, const AdjValue *result)
{
  const AdjSchema *schema = call->schema;
  gboolean several = schema->n_returns > 1;
  guint n = several && result->kind == ADJ_VALUE_TUPLE ? result->n : 1;

  if (schema->n_returns == 0 && result->kind == ADJ_VALUE_NONE)
    return TRUE;
  if (n != schema->n_returns)
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED, "gives %s, but its schema says '%s'",
                                 adj_value_kind_name (result->kind), call->method->schema);
  for (guint i = 0; i < n; i++)
    {
      const AdjValue *item = several ? &result->items[i] : result;

      if (!fits (&schema->returns[i].type, item))
        return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                                     "gives %s, but its schema says '%s'",
                                     adj_value_kind_name (item->kind), call->method->schema);
    }
  return TRUE;
}

static gboolean
bind (const AdjObjectCall *call, AdjValue *bound)
{
  const AdjValue args = { .kind = ADJ_VALUE_TUPLE,
                          .n = call->n_args,
                          .items = (AdjValue *) call->args };
  GError *error = NULL;

  if (adj_schema_bind (call->schema, &args, call->kwargs, bound, &error))
    return TRUE;
  adj_context_fail (call->cx, error->domain, error->code, "%s", error->message);
  g_error_free (error);
  return FALSE;
}

/* Prefixes the context's error with the class and method of @call. */
static void
name_error (const AdjObjectCall *call)
{
  if (call->cx->error != NULL && strstr (call->cx->error->message, call->name) == NULL)
    g_prefix_error (&call->cx->error, "%s.%s: ", call->object->header->name, call->name);
}

/* Calls @method of @object, which is the object of @call or its fake counterpart. */
static gboolean
run_method (AdjObjectCall *call, AdjObject *object, const AdjMethod *method, AdjMode *entry)
{
  AdjContext *cx = call->cx;
  const AdjPlace place = *adj_context_get_place (cx);
  AdjMode *before = adj_context_get_entry (cx);
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  gboolean done;

  if (!bind (call, bound))
    return FALSE;
  adj_context_set_entry (cx, entry);
  adj_scope_begin (cx);
  g_rec_mutex_lock (&object->header->lock);
  done = method->call (object, cx, bound, &call->result) && !adj_context_has_error (cx);
  g_rec_mutex_unlock (&object->header->lock);
  adj_scope_end (cx);
  adj_context_set_entry (cx, before);
  adj_context_set_place (cx, &place);
  if (done)
    return check_result (call, &call->result);
  if (!adj_context_has_error (cx))
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED, "failed without an error");
  name_error (call);
  return FALSE;
}

gboolean
adj_object_call_run (AdjObjectCall *call, AdjMode *entry)
{
  if (!adj_object_is_live (call->object))
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                                 "only the state of the object is here");
  return run_method (call, call->object, call->method, entry);
}

/* -- where there are no bytes -- */

/* (nullable): the method of the fake class with the name of that of @call; fails the call if
 * missing. */
static const AdjMethod *
find_fake_method (const AdjObjectCall *call, const AdjObject *fake)
{
  const AdjObjectClass *klass = fake->header->klass;
  gsize n = strlen (call->name);

  for (guint i = 0; i < klass->n_methods; i++)
    if (strncmp (klass->methods[i].schema, call->name, n) == 0 &&
        klass->methods[i].schema[n] == '(')
      return &klass->methods[i];
  adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                        "FakeScriptObject doesn't define method %s. Did you forget to implement it "
                        "in the fake class?",
                        call->name);
  return NULL;
}

static gboolean
drop_kept (const AdjValue *leaf, gpointer data)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    kept_value_drop (leaf->tensor);
  return TRUE;
}

static gboolean
make_fake (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_TENSOR || adj_storage_is_fake (adj_tensor_get_storage (leaf->tensor)))
    return TRUE;
  adj_value_clear (out);
  *out = ADJ_TENSOR (adj_tensor_new_empty (adj_tensor_get_meta (leaf->tensor), data, TRUE));
  return TRUE;
}

/* Runs the fake counterpart; fails if the method changed a real object. */
static gboolean
run_counterpart (AdjObjectCall *call, AdjObject *fake, AdjMode *entry)
{
  g_auto (AdjValue) before = ADJ_NONE;
  g_auto (AdjValue) after = ADJ_NONE;
  gboolean real = adj_object_is_live (call->object) && !call->object->header->is_fake &&
                  adj_object_flatten (call->object, &before, NULL);
  const AdjMethod *method =
      fake == call->object && !fake->header->is_fake ? call->method : find_fake_method (call, fake);

  if (method == NULL || !run_method (call, fake, method, entry))
    return FALSE;
  if (!real ||
      (adj_object_flatten (call->object, &after, NULL) && adj_object_state_equal (&before, &after)))
    return TRUE;
  return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                               "the call changed the state of the real object while it was traced");
}

gboolean
adj_object_call_run_fake (AdjObjectCall *call, AdjMode *entry)
{
  AdjObject *fake = adj_object_get_fake (call->cx, call->object);
  AdjValue result;

  if (fake == NULL || !run_counterpart (call, fake, entry))
    return FALSE;
  /* A fake class of its own may have kept any tensor, so that results show no kept value. */
  if (fake->header->klass != fake->header->real)
    adj_value_foreach (&call->result, drop_kept, NULL);
  adj_value_map (&call->result, make_fake, adj_context_get_symbols (call->cx), &result);
  adj_value_clear (&call->result);
  call->result = result;
  return TRUE;
}

/* -- through the modes -- */

static gboolean
call_mode (AdjMode *mode, AdjObjectCall *call)
{
  while (mode != NULL && mode->klass->object == NULL)
    mode = mode->below;
  if (mode == NULL)
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED, "no mode is left to run it");
  return mode->klass->object (mode, call) && !adj_context_has_error (call->cx);
}

gboolean
adj_mode_call_object_below (AdjMode *mode, AdjObjectCall *call)
{
  return call_mode (mode->below, call);
}

static gboolean
find_method (AdjObjectCall *call)
{
  const AdjObject *object = call->object;

  if (object->header->real == NULL)
    return adj_object_call_fail (call, ADJ_ERROR_UNSUPPORTED,
                                 "Adjoint has no such class, so that the object cannot be called");
  call->schema = adj_object_find_method (object, call->name, &call->method);
  if (call->schema == NULL)
    return adj_object_call_fail (call, ADJ_ERROR_SHAPE, "the class has no such method");
  return TRUE;
}

/* Moves the references of @value to the innermost scope; @value is consumed. */
static AdjValue
give_to_scope (AdjContext *cx, AdjValue *value)
{
  AdjValue given = *value;

  if (value->kind == ADJ_VALUE_TENSOR)
    adj_scope_add (cx, value->tensor);
  if (!adj_value_is_container (value))
    return given;
  given.items = g_new (AdjValue, MAX (value->n, 1));
  g_ptr_array_add (cx->items, given.items);
  for (guint i = 0; i < value->n; i++)
    given.items[i] = give_to_scope (cx, &value->items[i]);
  g_free (value->items);
  return given;
}

static AdjMode *
find_bottom (AdjContext *cx)
{
  AdjMode *mode = adj_context_get_mode (cx);

  while (mode != NULL && mode->below != NULL)
    mode = mode->below;
  return mode;
}

/* Calls the method as a function of the program: its operators enter at the context's entry,
 * as those of the program do. */
static gboolean
call_directly (AdjObjectCall *call)
{
  AdjMode *entry = adj_context_get_entry (call->cx), *bottom = find_bottom (call->cx);

  return bottom != NULL && g_str_equal (bottom->klass->name, "fake")
             ? adj_object_call_run_fake (call, entry)
             : adj_object_call_run (call, entry);
}

static gboolean
run_call (AdjObjectCall *call, gboolean direct, AdjValue *result)
{
  gboolean done;

  *result = ADJ_NONE;
  if (!adj_context_may_go_on (call->cx) || !find_method (call))
    return FALSE;
  call->object = adj_context_get_object_copy (call->cx, call->object);
  if (call->object == NULL)
    return FALSE;
  done = direct ? call_directly (call) : call_mode (adj_context_get_entry (call->cx), call);
  if (done)
    *result = give_to_scope (call->cx, &call->result);
  else
    adj_value_clear (&call->result);
  return done;
}

gboolean
adj_object_call (AdjContext *cx,
                 AdjObject *object,
                 const char *method,
                 const AdjValue *args,
                 guint n_args,
                 const AdjValue *kwargs,
                 AdjValue *result)
{
  AdjObjectCall call = { .cx = cx, .object = object, .name = method, .args = args };

  g_return_val_if_fail (cx != NULL && object != NULL && method != NULL && result != NULL, FALSE);
  g_return_val_if_fail (n_args == 0 || args != NULL, FALSE);

  call.n_args = n_args;
  call.kwargs = kwargs != NULL ? kwargs : &ADJ_NONE;
  return run_call (&call, cx->objects_are_direct, result);
}

gboolean
adj_object_call_after (AdjContext *cx,
                       AdjTensor *token,
                       AdjObject *object,
                       const char *method,
                       const AdjValue *args,
                       guint n_args,
                       const AdjValue *kwargs,
                       AdjValue *result,
                       AdjTensor **new_token)
{
  AdjObjectCall call = { .cx = cx, .object = object, .name = method, .args = args };

  g_return_val_if_fail (cx != NULL && object != NULL && method != NULL && result != NULL, FALSE);
  g_return_val_if_fail (new_token != NULL, FALSE);

  call.n_args = n_args;
  call.kwargs = kwargs != NULL ? kwargs : &ADJ_NONE;
  call.token = token != NULL ? token : adj_token_new (cx);
  call.new_token = *new_token = adj_token_new (cx);
  return run_call (&call, FALSE, result);
}
