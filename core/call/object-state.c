/* SPDX-License-Identifier: MIT */
/* The flattened state of objects: check, comparison, and objects made from it. */

#include <string.h>

#include "call/object-private.h"

/* -- its form -- */

static gboolean
is_plain (const AdjValue *leaf, gpointer data)
{
  static const guint32 kinds = 1u << ADJ_VALUE_NONE | 1u << ADJ_VALUE_BOOL | 1u << ADJ_VALUE_INT |
                               1u << ADJ_VALUE_FLOAT | 1u << ADJ_VALUE_STRING |
                               1u << ADJ_VALUE_DATA | 1u << ADJ_VALUE_TENSOR | 1u << ADJ_VALUE_META;

  return (kinds >> leaf->kind & 1) != 0;
}

static gboolean
refuse (const AdjObject *object, GError **error, const char *why)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s.__obj_flatten__: %s",
               object->header->name, why);
  return FALSE;
}

static gboolean
refuse_unknown (const AdjObject *object, GError **error)
{
  const AdjValue *flat = &object->header->flat;
  g_autofree char *why = g_strconcat ("the state of this object is not known",
                                      flat->kind == ADJ_VALUE_RAW ? ": " : NULL, flat->text, NULL);

  return refuse (object, error, why);
}

static gboolean
check_state (const AdjObject *object, const AdjValue *state, GError **error)
{
  if (state->kind != ADJ_VALUE_TUPLE)
    return refuse (object, error, "Expect flat x to be a tuple.");
  for (guint i = 0; i < state->n; i++)
    {
      const AdjValue *pair = &state->items[i];

      if (pair->kind != ADJ_VALUE_TUPLE)
        return refuse (object, error, "Expect flat x to be a tuple of tuples.");
      if (pair->n != 2 || pair->items[0].kind != ADJ_VALUE_STRING)
        return refuse (object, error,
                       "Expect element of flat x to be a tuple of two elements with first element "
                       "being a string");
      if (!adj_value_foreach (&pair->items[1], is_plain, NULL))
        return refuse (object, error,
                       "the state holds what is neither a number, a text nor a "
                       "tensor");
    }
  return TRUE;
}

gboolean
adj_object_flatten (AdjObject *object, AdjValue *state, GError **error)
{
  struct _AdjObjectHeader *header;
  gboolean done;

  g_return_val_if_fail (object != NULL && state != NULL, FALSE);

  header = object->header;
  *state = ADJ_NONE;
  if (!object_state_is_known (object))
    return refuse_unknown (object, error);
  if (header->klass != NULL && header->klass->flatten == NULL)
    return refuse (object, error, "the class does not have a field with name '__obj_flatten__'");
  if (header->klass == NULL)
    {
      *state = adj_value_copy (&header->flat);
      return TRUE;
    }
  g_rec_mutex_lock (&header->lock);
  done = header->klass->flatten (object, state, error) && check_state (object, state, error);
  g_rec_mutex_unlock (&header->lock);
  if (!done)
    adj_value_clear (state);
  return done;
}

AdjValue
adj_object_dup_flat (const AdjObject *object)
{
  return adj_value_copy (&object->header->flat);
}

/* -- equality -- */

static gboolean
same_bytes (const AdjTensorData *a, const AdjTensorData *b)
{
  AdjTensorMeta meta_a = *adj_tensor_data_get_meta (a), meta_b = *adj_tensor_data_get_meta (b);
  g_autoptr (AdjTensorData) dense_a = NULL;
  g_autoptr (AdjTensorData) dense_b = NULL;
  gsize item = adj_dtype_info (meta_a.dtype)->n_bytes;
  gsize n;

  if (meta_a.dtype != meta_b.dtype || !adj_shape_same_sizes (&meta_a.shape, &meta_b.shape, NULL))
    return FALSE;
  dense_a = adj_tensor_data_contiguous ((AdjTensorData *) a);
  dense_b = adj_tensor_data_contiguous ((AdjTensorData *) b);
  meta_a = *adj_tensor_data_get_meta (dense_a);
  meta_b = *adj_tensor_data_get_meta (dense_b);
  n = (gsize) adj_tensor_data_get_numel (dense_a) * item;
  return n == 0 ||
         memcmp ((const char *) g_bytes_get_data (adj_tensor_data_get_bytes (dense_a), NULL) +
                     (gsize) meta_a.shape.offset.word * item,
                 (const char *) g_bytes_get_data (adj_tensor_data_get_bytes (dense_b), NULL) +
                     (gsize) meta_b.shape.offset.word * item,
                 n) == 0;
}

gboolean
adj_object_state_equal (const AdjValue *a, const AdjValue *b)
{
  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  if (a->kind == ADJ_VALUE_DATA && b->kind == ADJ_VALUE_DATA)
    return a->data == b->data || same_bytes (a->data, b->data);
  if (a->kind != b->kind || !adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!adj_object_state_equal (&a->items[i], &b->items[i]))
      return FALSE;
  return TRUE;
}

gboolean
adj_object_equal (AdjObject *a, AdjObject *b)
{
  g_auto (AdjValue) state_a = ADJ_NONE;
  g_auto (AdjValue) state_b = ADJ_NONE;

  g_return_val_if_fail (a != NULL && b != NULL, FALSE);

  return a == b ||
         (g_str_equal (a->header->name, b->header->name) &&
          adj_object_flatten (a, &state_a, NULL) && adj_object_flatten (b, &state_b, NULL) &&
          adj_object_state_equal (&state_a, &state_b));
}

/* -- copies -- */

/* The name of the first entry in which @a and @b differ. */
static const char *
find_difference (const AdjValue *a, const AdjValue *b)
{
  for (guint i = 0; i < MIN (a->n, b->n); i++)
    if (!adj_object_state_equal (&a->items[i], &b->items[i]))
      return a->items[i].items[0].text;
  return a->n > b->n ? a->items[b->n].items[0].text : b->items[a->n].items[0].text;
}

/* @state (out) (transfer full): of @object; @copy (out) (transfer full): an object made from it. */
static gboolean
round_trip (AdjObject *object, AdjValue *state, AdjObject **copy, GError **error)
{
  g_auto (AdjValue) again = ADJ_NONE;
  g_autoptr (AdjObject) other = NULL;

  if (!adj_object_flatten (object, state, error))
    return FALSE;
  other = object_instance_new (object->header->klass, object->header->real, state,
                               object->header->is_fake, error);
  if (other == NULL || !adj_object_flatten (other, &again, error))
    return FALSE;
  if (!adj_object_state_equal (state, &again))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s: the state is another one after __obj_flatten__ and __obj_unflatten__, in "
                   "'%s'",
                   object->header->name, find_difference (state, &again));
      return FALSE;
    }
  *copy = g_steal_pointer (&other);
  return TRUE;
}

gboolean
adj_object_save (AdjObject *object, AdjValue *state, GError **error)
{
  g_autoptr (AdjObject) copy = NULL;

  g_return_val_if_fail (object != NULL && state != NULL, FALSE);

  *state = ADJ_NONE;
  if (object->header->klass == NULL)
    return adj_object_flatten (object, state, error);
  if (round_trip (object, state, &copy, error))
    return TRUE;
  adj_value_clear (state);
  return FALSE;
}

AdjObject *
adj_object_deep_copy (AdjObject *object, GError **error)
{
  g_auto (AdjValue) state = ADJ_NONE;
  AdjObject *copy = NULL;

  g_return_val_if_fail (object != NULL, NULL);

  if (object->header->klass == NULL)
    return adj_object_new_flat (object->header->name, object->header->real, &object->header->flat);
  return round_trip (object, &state, &copy, error) ? copy : NULL;
}

/* -- by name -- */

AdjValue
adj_object_state_new (const char *name, AdjValue value, ...)
{
  g_autoptr (GArray) pairs = adj_value_array_new ();
  va_list list;

  va_start (list, value);
  while (name != NULL)
    {
      AdjValue pair = adj_value_new_items (ADJ_VALUE_TUPLE,
                                           (AdjValue[]){ adj_value_new_string (name), value }, 2);

      g_array_append_val (pairs, pair);
      name = va_arg (list, const char *);
      if (name != NULL)
        value = va_arg (list, AdjValue);
    }
  va_end (list);
  return adj_value_array_end (pairs, ADJ_VALUE_TUPLE);
}

const AdjValue *
adj_object_state_get (const AdjValue *state, const char *name)
{
  g_return_val_if_fail (state != NULL && name != NULL, NULL);

  for (guint i = 0; state->kind == ADJ_VALUE_TUPLE && i < state->n; i++)
    {
      const AdjValue *pair = &state->items[i];

      if (pair->kind == ADJ_VALUE_TUPLE && pair->n == 2 &&
          pair->items[0].kind == ADJ_VALUE_STRING && g_str_equal (pair->items[0].text, name))
        return &pair->items[1];
    }
  return NULL;
}
