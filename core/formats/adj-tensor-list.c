/* SPDX-License-Identifier: MIT */
/* Tensors by name, of the formats that hold tensors without a graph. */

#include <string.h>

#include "base/adj-file-internal.h"
#include "formats/adj-format.h"
#include "formats/adj-safetensors.h"
#include "formats/adj-tensor-list-internal.h"
#include "formats/torch-save-private.h"
#include "formats/torch-stream-private.h"

#define MAX_PICKLE_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MAX_NAME_BYTES ((gsize) 64 << 20)

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
  gsize n_name_bytes;
  char *unread;        /* (owned) (nullable): the first thing that only Python could make */
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
  g_free (list->unread);
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

/* Counts "name.key", of tensors and of what is none. */
static gboolean
count_name (AdjTensorList *list, const char *name, const char *key, GError **error)
{
  list->n_name_bytes += (name != NULL ? strlen (name) + 1 : 0) + strlen (key) + 1;
  if (list->n_name_bytes <= MAX_NAME_BYTES)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "the names of its entries are more than 64 MiB");
  return FALSE;
}

static gboolean
gather (AdjTensorList *list, const AdjValue *value, const char *name, GError **error);

static gboolean
gather_items (AdjTensorList *list, const AdjValue *value, const char *name, GError **error)
{
  gboolean is_dict = value->kind == ADJ_VALUE_DICT;

  for (guint i = is_dict; i < value->n; i += 1 + is_dict)
    {
      const AdjValue *key = is_dict ? &value->items[i - 1] : NULL;
      g_autofree char *inner = NULL;

      if (key != NULL && key->kind == ADJ_VALUE_STRING)
        {
          if (!count_name (list, name, key->text, error))
            return FALSE;
          inner = name != NULL ? g_strconcat (name, ".", key->text, NULL) : g_strdup (key->text);
        }
      if (!gather (list, &value->items[i], inner, error))
        return FALSE;
    }
  return TRUE;
}

/* All tensors in @value, which stands under @name (nullable). */
static gboolean
gather (AdjTensorList *list, const AdjValue *value, const char *name, GError **error)
{
  if (value->kind == ADJ_VALUE_DATA)
    add (list, name, value->data);
  else if (value->kind == ADJ_VALUE_RAW && list->unread == NULL)
    list->unread = g_strndup (value->text, 80);
  return !adj_value_is_container (value) || gather_items (list, value, name, error);
}

static gboolean
read_archive (const char *path, AdjValue *out, GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_open (path, ADJ_FILE_WHOLE, NULL, error);

  return part != NULL && torch_save_read (part, path, NULL, out, error);
}

static gboolean
read_pickle (const char *path, AdjValue *out, GError **error)
{
  g_autoptr (GBytes) bytes = adj_file_read (path, ADJ_FILE_WHOLE, MAX_PICKLE_BYTES, NULL, error);

  return bytes != NULL && torch_stream_read (bytes, path, NULL, out, error);
}

static gboolean
is_archive (const guint8 *head, gsize length)
{
  return length >= 4 && memcmp (head, "PK\003\004", 4) == 0;
}

/* By their first bytes; other files are safetensors. */
typedef struct
{
  gboolean (*is) (const guint8 *head, gsize length);
  gboolean (*read) (const char *path, AdjValue *out, GError **error);
} Saved;

static const Saved saved[] = {
  { is_archive, read_archive },
  { pickle_is, read_pickle },
};

/* (nullable) */
static const Saved *
find_saved (const char *path)
{
  guint8 head[9];
  gssize n = adj_file_read_head (path, head, sizeof head, NULL);

  for (guint i = 0; n > 0 && i < G_N_ELEMENTS (saved); i++)
    if (saved[i].is (head, (gsize) n))
      return &saved[i];
  return NULL;
}

static gboolean
load_saved (AdjTensorList *list, const Saved *kind, const char *path, GError **error)
{
  g_auto (AdjValue) value = ADJ_NONE;

  if (!kind->read (path, &value, error))
    return FALSE;
  if (!gather (list, &value, NULL, error))
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  if (list->entries->len > 0)
    return TRUE;
  if (list->unread != NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: holds no tensor that is read; the first other thing in it is '%s'", path,
                 list->unread);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: holds no tensor", path);
  return FALSE;
}

gboolean
adj_tensor_list_is (const char *path)
{
  return adj_safetensors_is (path) ||
         (find_saved (path) != NULL && adj_format_detect (path, NULL) == NULL);
}

AdjTensorList *
adj_tensor_list_load (const char *path, GError **error)
{
  g_autoptr (AdjTensorList) list = g_new0 (AdjTensorList, 1);
  const Saved *kind = find_saved (path);

  list->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (list->entries, clear_entry);
  list->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (kind != NULL)
    return load_saved (list, kind, path, error) ? g_steal_pointer (&list) : NULL;
  if (!adj_safetensors_is (path) && g_file_test (path, G_FILE_TEST_IS_REGULAR))
    {
      g_set_error (
          error, ADJ_ERROR, ADJ_ERROR_PARSE,
          "%s: not a file of tensors: expected safetensors, an archive of torch.save, or a "
          "pickle of protocol 2 to 5",
          path);
      return NULL;
    }
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
