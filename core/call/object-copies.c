/* SPDX-License-Identifier: MIT */
/* Copies of objects for runs that must not change their inputs. */

#include "call/adj-context-internal.h"
#include "call/context-private.h"
#include "call/object-private.h"

void
adj_context_set_object_copies (AdjContext *cx, gboolean widened)
{
  g_return_if_fail (cx != NULL && cx->object_copies == NULL);

  cx->object_copies = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) adj_opaque_unref,
                                             (GDestroyNotify) adj_opaque_unref);
  cx->object_copies_are_wide = widened;
}

static gboolean
widen_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = adj_value_copy (leaf);
  if (leaf->kind != ADJ_VALUE_DATA ||
      !adj_dtype_is_differentiable (adj_tensor_data_get_meta (leaf->data)->dtype))
    return TRUE;
  adj_value_clear (out);
  *out = ADJ_DATA (adj_tensor_data_cast_storage (leaf->data, ADJ_DTYPE_F64));
  return TRUE;
}

static AdjObject *
copy_wide (AdjObject *object, GError **error)
{
  const AdjObjectClass *klass = object->header->real;
  g_auto (AdjValue) state = ADJ_NONE, wide = ADJ_NONE;

  if (!adj_object_save (object, &state, error))
    return NULL;
  adj_value_map (&state, widen_leaf, NULL, &wide);
  return object_instance_new (klass, klass, &wide, FALSE, error);
}

AdjObject *
adj_context_get_object_copy (AdjContext *cx, AdjObject *object)
{
  AdjObject *copy;
  GError *error = NULL;

  if (cx->object_copies == NULL || !adj_object_is_live (object) || object->header->is_fake ||
      adj_object_is_value (object))
    return object;
  copy = g_hash_table_lookup (cx->object_copies, object);
  if (copy != NULL)
    return copy;
  copy = cx->object_copies_are_wide ? copy_wide (object, &error)
                                    : adj_object_deep_copy (object, &error);
  if (copy == NULL)
    {
      adj_context_fail (cx, error->domain, error->code, "%s", error->message);
      g_error_free (error);
      return NULL;
    }
  g_hash_table_insert (cx->object_copies, adj_opaque_ref (&object->parent), copy);
  return copy;
}

AdjObject *
adj_context_dup_object_given (const AdjContext *cx, AdjObject *object)
{
  gboolean wide = cx->object_copies_are_wide && adj_context_find_object_copy (cx, object) != object;
  AdjObject *given = wide ? copy_wide (object, NULL) : NULL;

  return given != NULL ? given : (AdjObject *) adj_opaque_ref (&object->parent);
}

AdjObject *
adj_context_find_object_copy (const AdjContext *cx, AdjObject *object)
{
  AdjObject *copy =
      cx->object_copies != NULL ? g_hash_table_lookup (cx->object_copies, object) : NULL;

  return copy != NULL ? copy : object;
}
