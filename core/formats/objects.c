/* SPDX-License-Identifier: MIT */
/* Opaque objects, by class and flattened state. */

#include <string.h>

#include "call/adj-object-call-internal.h"
#include "formats/objects-private.h"
#include "ir/adj-opaque.h"
#include "ir/adj-value-internal.h"
#include "objects/adj-object-table.h"

#define MAX_NAME 256

/* -- reading -- */

struct _ReadObjects
{
  GPtrArray *all;    /* AdjOpaque, owned */
  GHashTable *by_id; /* number → AdjOpaque */
};

ReadObjects *
read_objects_new (void)
{
  ReadObjects *objects = g_new (ReadObjects, 1);

  objects->all = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_opaque_unref);
  objects->by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  return objects;
}

void
read_objects_free (ReadObjects *objects)
{
  g_ptr_array_unref (objects->all);
  g_hash_table_unref (objects->by_id);
  g_free (objects);
}

static gboolean
has_elements (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_META;
}

/* (transfer full): @state: as of adj_object_new_flat() */
static AdjObject *
make_object (const char *name, const AdjValue *state)
{
  const AdjObjectClass *klass = adj_object_class_find (name);
  AdjObject *object = NULL;

  if (klass != NULL && state->kind == ADJ_VALUE_TUPLE &&
      adj_value_foreach (state, has_elements, NULL))
    object = adj_object_new (klass, state, NULL);
  return object != NULL ? object : adj_object_new_flat (name, klass, state);
}

static gboolean
is_pair (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TUPLE && value->n == 2 &&
         value->items[0].kind == ADJ_VALUE_STRING;
}

static gboolean
is_plain_leaf (const AdjValue *leaf, gpointer data)
{
  static const guint32 kinds = 1u << ADJ_VALUE_NONE | 1u << ADJ_VALUE_BOOL | 1u << ADJ_VALUE_INT |
                               1u << ADJ_VALUE_FLOAT | 1u << ADJ_VALUE_STRING |
                               1u << ADJ_VALUE_DATA | 1u << ADJ_VALUE_META;

  return (kinds >> leaf->kind & 1) != 0;
}

static gboolean
is_state (const AdjValue *state)
{
  if (state->kind != ADJ_VALUE_TUPLE)
    return FALSE;
  for (guint i = 0; i < state->n; i++)
    if (!is_pair (&state->items[i]) ||
        !adj_value_foreach (&state->items[i].items[1], is_plain_leaf, NULL))
      return FALSE;
  return TRUE;
}

/* An annotation that says too little of a tensor is kept as text: "f32cpu" of a nested one. */
static gboolean
is_described (const AdjValue *leaf, gpointer text)
{
  if (leaf->kind == ADJ_VALUE_RAW)
    *(const AdjValue **) text = leaf;
  return leaf->kind != ADJ_VALUE_RAW;
}

/* (transfer full): why a state cannot be kept, or %NULL. */
static char *
find_undescribed (const AdjValue *state)
{
  const AdjValue *text = NULL;
  g_autofree char *head = NULL;

  if (state->kind != ADJ_VALUE_TUPLE || adj_value_foreach (state, is_described, &text))
    return NULL;
  head = g_utf8_make_valid (text->text, MIN (text->n, 256));
  return g_strdup_printf ("the file does not describe its value '%s'", head);
}

AdjOpaque *
object_read (ReadObjects *objects, const ValueReader *reader, const JsonItem *item, GError **error)
{
  const JsonItem *name = item->kind == JSON_OBJECT ? json_get (item, "class") : NULL;
  const JsonItem *state = item->kind == JSON_OBJECT ? json_get (item, "state") : NULL;
  const char *why = item->kind == JSON_OBJECT ? json_get_text (item, "no_state") : NULL;
  gint64 id = item->kind == JSON_OBJECT ? json_get_int (item, "id", -1) : -1;
  AdjOpaque *known = g_hash_table_lookup (objects->by_id, &id);
  g_autofree char *undescribed = NULL;
  AdjValue value = ADJ_NONE;
  AdjObject *object;

  if (known != NULL)
    return known;
  if (name == NULL || name->kind != JSON_STRING || name->n == 0 || name->n > MAX_NAME)
    {
      json_fail (reader->json, item, error, "expected {\"class\": text, \"state\": value}");
      return NULL;
    }
  if (state != NULL &&
      (!value_read (reader, state, &value, error) || !adj_value_fetch (&value, error)))
    return NULL;
  undescribed = find_undescribed (&value);
  if (undescribed != NULL)
    {
      state = NULL;
      why = undescribed;
    }
  if (state != NULL && !is_state (&value))
    {
      json_fail (reader->json, state, error,
                 "the state of an object is a tuple of names with plain values");
      return NULL;
    }
  if (state == NULL && why != NULL)
    value = (AdjValue){ .kind = ADJ_VALUE_RAW, .n = (guint) strlen (why), .text = why };
  object = make_object (name->text, &value);
  g_ptr_array_add (objects->all, object);
  if (id >= 0)
    g_hash_table_insert (objects->by_id, g_memdup2 (&id, sizeof id), &object->parent);
  return &object->parent;
}

/* -- writing -- */

static void
saved_object_free (gpointer data)
{
  adj_value_clear (&((SavedObject *) data)->state);
  g_free (data);
}

GHashTable *
object_states_new (void)
{
  return g_hash_table_new_full (NULL, NULL, (GDestroyNotify) adj_opaque_unref, saved_object_free);
}

const SavedObject *
object_get_state (GHashTable *states, AdjOpaque *object, GError **error)
{
  AdjObject *known = adj_object_from_opaque (object);
  SavedObject *saved = g_hash_table_lookup (states, object);
  AdjValue value = ADJ_NONE;

  if (saved != NULL)
    return saved;
  if (adj_opaque_get_type (object) == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "a file cannot hold %s",
                   adj_value_kind_name (ADJ_VALUE_OPAQUE_OBJECT));
      return NULL;
    }
  if (known != NULL && adj_object_is_live (known) && !adj_object_save (known, &value, error))
    return NULL;
  if (known != NULL && !adj_object_is_live (known))
    value = adj_object_dup_flat (known);
  saved = g_new (SavedObject, 1);
  *saved = (SavedObject){ g_hash_table_size (states), value };
  g_hash_table_insert (states, adj_opaque_ref (object), saved);
  return saved;
}
