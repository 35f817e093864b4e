/* SPDX-License-Identifier: MIT */
/* Tensors by name, of the formats that hold tensors without a graph. */

#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/adj-format.h"
#include "formats/adj-safetensors.h"
#include "formats/adj-tensor-list-internal.h"
#include "formats/torch-save-private.h"

typedef struct
{
  char *name; /* (owned) (nullable) */
  AdjTensorData *data;
} Entry;

struct _AdjTensorList
{
  AdjSafetensors *safetensors; /* (owned) (nullable): holds all tensors if set */
  GArray *entries;
  GHashTable *by_name; /* name → index + 1 */
  gboolean is_unnamed; /* a tensor stands outside of the dicts */
};

static void
clear_entry (gpointer data)
{
  Entry *entry = data;

  g_free (entry->name);
  adj_tensor_data_unref (entry->data);
}

void
adj_tensor_list_free (AdjTensorList *list)
{
  g_clear_pointer (&list->safetensors, adj_safetensors_free);
  g_array_unref (list->entries);
  g_hash_table_unref (list->by_name);
  g_free (list);
}

static void
add (AdjTensorList *list, const char *name, AdjTensorData *data)
{
  Entry entry = { g_strdup (name), adj_tensor_data_ref (data) };

  g_array_append_val (list->entries, entry);
  if (name == NULL)
    list->is_unnamed = TRUE;
  else
    g_hash_table_insert (list->by_name, entry.name, GUINT_TO_POINTER (list->entries->len));
}

/* All tensors in @value, which stands under @name (nullable). */
static void
gather (AdjTensorList *list, const AdjValue *value, const char *name)
{
  gboolean is_dict = value->kind == ADJ_VALUE_DICT;

  if (value->kind == ADJ_VALUE_DATA)
    add (list, name, value->data);
  if (!adj_value_is_container (value))
    return;
  for (guint i = is_dict; i < value->n; i += 1 + is_dict)
    {
      const AdjValue *key = is_dict ? &value->items[i - 1] : NULL;
      g_autofree char *inner = NULL;

      if (key != NULL && key->kind == ADJ_VALUE_STRING)
        inner = name != NULL ? g_strconcat (name, ".", key->text, NULL) : g_strdup (key->text);
      gather (list, &value->items[i], inner);
    }
}

static gboolean
load_saved (AdjTensorList *list, const char *path, GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_open (path, ADJ_FILE_WHOLE, NULL, error);
  g_auto (AdjValue) value = ADJ_NONE;

  if (part == NULL || !torch_save_read (part, path, NULL, &value, error))
    return FALSE;
  gather (list, &value, NULL);
  if (list->entries->len > 0)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: holds no tensor", path);
  return FALSE;
}

static gboolean
is_archive (const char *path)
{
  guint8 head[4];

  return adj_file_read_head (path, head, sizeof head, NULL) == sizeof head &&
         memcmp (head, "PK\003\004", 4) == 0;
}

gboolean
adj_tensor_list_is (const char *path)
{
  return adj_safetensors_is (path) || (is_archive (path) && adj_format_detect (path, NULL) == NULL);
}

AdjTensorList *
adj_tensor_list_load (const char *path, GError **error)
{
  g_autoptr (AdjTensorList) list = g_new0 (AdjTensorList, 1);

  list->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (list->entries, clear_entry);
  list->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (is_archive (path))
    return load_saved (list, path, error) ? g_steal_pointer (&list) : NULL;
  list->safetensors = adj_safetensors_load (path, error);
  return list->safetensors != NULL ? g_steal_pointer (&list) : NULL;
}

guint
adj_tensor_list_get_n (const AdjTensorList *list)
{
  return list->safetensors != NULL ? adj_safetensors_get_n (list->safetensors) : list->entries->len;
}

const char *
adj_tensor_list_get_name (const AdjTensorList *list, guint index)
{
  if (list->safetensors != NULL)
    return adj_safetensors_get_name (list->safetensors, index);
  return list->is_unnamed ? NULL : g_array_index (list->entries, Entry, index).name;
}

AdjTensorData *
adj_tensor_list_get (const AdjTensorList *list, guint index, GError **error)
{
  if (list->safetensors != NULL)
    return adj_safetensors_find (list->safetensors,
                                 adj_safetensors_get_name (list->safetensors, index), error);
  return g_array_index (list->entries, Entry, index).data;
}

AdjTensorData *
adj_tensor_list_find (const AdjTensorList *list, const char *name, GError **error)
{
  guint place;

  if (list->safetensors != NULL)
    return adj_safetensors_find (list->safetensors, name, error);
  place = GPOINTER_TO_UINT (g_hash_table_lookup (list->by_name, name));
  if (place > 0)
    return g_array_index (list->entries, Entry, place - 1).data;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no tensor '%s'", name);
  return NULL;
}
