/* SPDX-License-Identifier: MIT */
/* Fake counterparts of objects: made from the flattened state with fake tensors, by the fake class.
 */

#include <string.h>

#include "call/adj-context-internal.h"
#include "call/context-private.h"
#include "call/object-private.h"

static gboolean
make_fake (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const AdjTensorMeta *meta = NULL;

  if (leaf->kind == ADJ_VALUE_DATA)
    meta = adj_tensor_data_get_meta (leaf->data);
  else if (leaf->kind == ADJ_VALUE_META)
    meta = leaf->meta;
  else if (leaf->kind == ADJ_VALUE_TENSOR)
    meta = adj_tensor_get_meta (leaf->tensor);
  *out = meta != NULL
             ? ADJ_TENSOR (adj_tensor_new_empty (meta, adj_context_get_symbols (data), TRUE))
             : adj_value_copy (leaf);
  return TRUE;
}

static void
fail (AdjContext *cx, GError *error)
{
  adj_context_fail (cx, error->domain, error->code, "%s", error->message);
  g_error_free (error);
}

static gboolean
refuse_class (AdjContext *cx, const char *name, const AdjObjectClass *klass)
{
  if (klass == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "%s: Adjoint has no such class, so that the object cannot be called", name);
  else if (klass->fake == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "ScriptObject's %s haven't registered a fake class: set 'fake' in the record "
                      "of the class, to one that implements the methods without elements and makes "
                      "itself of the flattened state",
                      name);
  else
    return TRUE;
  return FALSE;
}

static gboolean
has_method (const AdjObjectClass *klass, const char *schema)
{
  gsize n = strcspn (schema, "(");

  for (guint i = 0; i < klass->n_methods; i++)
    if (strncmp (klass->methods[i].schema, schema, n + 1) == 0)
      return TRUE;
  return FALSE;
}

static void
warn_of_missing (AdjContext *cx, const char *name, const AdjObjectClass *klass)
{
  for (guint i = 0; i < klass->n_methods; i++)
    if (!has_method (klass->fake, klass->methods[i].schema))
      adj_context_warn (cx, "fake object of %s doesn't implement method %.*s.", name,
                        (int) strcspn (klass->methods[i].schema, "("), klass->methods[i].schema);
}

AdjObject *
adj_object_new_fake (AdjContext *cx,
                     const char *name,
                     const AdjObjectClass *klass,
                     const AdjValue *state)
{
  g_auto (AdjValue) fake_state = ADJ_NONE;
  GError *error = NULL;
  AdjObject *fake;

  if (!refuse_class (cx, name, klass))
    return NULL;
  adj_value_map (state, make_fake, cx, &fake_state);
  fake = object_instance_new (klass->fake, klass, &fake_state, TRUE, &error);
  if (fake == NULL)
    fail (cx, error);
  else
    warn_of_missing (cx, name, klass);
  return fake;
}

static AdjObject *
make_counterpart (AdjContext *cx, AdjObject *object)
{
  const AdjObjectClass *klass = object->header->real;
  g_auto (AdjValue) state = ADJ_NONE;
  GError *error = NULL;

  if (!refuse_class (cx, object->header->name, klass))
    return NULL;
  if (adj_object_save (object, &state, &error))
    return adj_object_new_fake (cx, object->header->name, klass, &state);
  fail (cx, error);
  return NULL;
}

AdjObject *
adj_object_get_fake (AdjContext *cx, AdjObject *object)
{
  const AdjObjectClass *klass = object->header->real;
  AdjObject *fake;

  if (object->header->is_fake ||
      (klass != NULL && klass->is_real_in_traces && object->header->klass != NULL))
    return object;
  if (cx->fake_objects == NULL)
    cx->fake_objects = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) adj_opaque_unref,
                                              (GDestroyNotify) adj_opaque_unref);
  fake = g_hash_table_lookup (cx->fake_objects, object);
  if (fake != NULL)
    return fake;
  fake = make_counterpart (cx, object);
  if (fake != NULL)
    g_hash_table_insert (cx->fake_objects, adj_opaque_ref (&object->parent), fake);
  return fake;
}
