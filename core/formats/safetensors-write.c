/* SPDX-License-Identifier: MIT */
/* Writes safetensors, in one piece or streamed to a file. */

#include <string.h>

#include "formats/adj-safetensors.h"
#include "formats/entries-private.h"
#include "formats/json-private.h"
#include "tensor/adj-late-bytes-internal.h"

#define ALIGNMENT 64

typedef struct
{
  const char *name;
  AdjTensorData *tensor; /* (unowned) */
  guint n_bytes;         /* of an element */
  gsize size;
} Item;

static gint
compare_items (gconstpointer a, gconstpointer b)
{
  const Item *first = a, *second = b;

  if (first->n_bytes != second->n_bytes)
    return first->n_bytes > second->n_bytes ? -1 : 1;
  return strcmp (first->name, second->name);
}

static gboolean
add_item (GArray *items, const char *name, AdjTensorData *tensor, GError **error)
{
  const AdjDTypeInfo *info = adj_dtype_info (adj_tensor_data_get_meta (tensor)->dtype);
  Item item = { .name = name, .tensor = tensor, .n_bytes = info->n_bytes };

  if (info->safetensors == NULL || info->n_bytes == 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "tensor '%s': safetensors has no element type for %s", name, info->torch_name);
      return FALSE;
    }
  item.size = (gsize) adj_tensor_data_get_numel (tensor) * info->n_bytes;
  g_array_append_val (items, item);
  return adj_tensor_data_fetch (tensor, error);
}

static GString *
print_header (const GArray *items)
{
  GString *out = g_string_new ("{");
  gsize at = 0;

  for (guint i = 0; i < items->len; i++)
    {
      const Item *item = &g_array_index (items, Item, i);
      const AdjTensorMeta *meta = adj_tensor_data_get_meta (item->tensor);

      if (i > 0)
        g_string_append_c (out, ',');
      json_print_string (item->name, out);
      g_string_append_printf (out, ":{\"dtype\":\"%s\",\"shape\":[",
                              adj_dtype_info (meta->dtype)->safetensors);
      for (guint k = 0; k < meta->shape.rank; k++)
        g_string_append_printf (out, "%s%" G_GINT64_FORMAT, k > 0 ? "," : "",
                                meta->shape.size[k].word);
      g_string_append_printf (out, "],\"data_offsets\":[%" G_GSIZE_FORMAT ",%" G_GSIZE_FORMAT "]}",
                              at, at + item->size);
      at += item->size;
    }
  g_string_append_c (out, '}');
  while ((out->len + 8) % ALIGNMENT != 0)
    g_string_append_c (out, ' ');
  return out;
}

/* The length of the header and the header. */
static GBytes *
print_start (const GArray *items, GError **error)
{
  g_autoptr (GString) header = print_header (items);
  guint8 *out;

  if (header->len > ADJ_SAFETENSORS_MAX_HEADER)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "the tensors are too many for one file");
      return NULL;
    }
  out = g_malloc (8 + header->len);
  for (guint i = 0; i < 8; i++)
    out[i] = (guint64) header->len >> (8 * i) & 255;
  memcpy (out + 8, header->str, header->len);
  return g_bytes_new_take (out, 8 + header->len);
}

/* The elements alone, in row-major order. */
static GBytes *
dense_bytes (const Item *item)
{
  g_autoptr (AdjTensorData) dense = adj_tensor_data_contiguous (item->tensor);
  gsize offset = (gsize) adj_tensor_data_get_meta (dense)->shape.offset.word * item->n_bytes;

  return g_bytes_new_from_bytes (adj_tensor_data_get_bytes (dense), item->size > 0 ? offset : 0,
                                 item->size);
}

/* (nullable): (array of Item) in the order of the file */
static GArray *
list_items (const char *const *names, AdjTensorData *const *tensors, guint n, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  g_hash_table_add (seen, (gpointer) "__metadata__");
  for (guint i = 0; i < n; i++)
    {
      if (!add_item (items, names[i], tensors[i], error))
        return NULL;
      if (g_hash_table_add (seen, (gpointer) names[i]))
        continue;
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "the name '%s' of a tensor is taken",
                   names[i]);
      return NULL;
    }
  g_array_sort (items, compare_items);
  return g_steal_pointer (&items);
}

static GBytes *
assemble (const GArray *items, GBytes *start, GError **error)
{
  gsize at = g_bytes_get_size (start), total = at;
  guint8 *out;

  for (guint i = 0; i < items->len; i++)
    total += g_array_index (items, Item, i).size;
  out = g_try_malloc (total);
  if (out == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
                   "there is no memory for the %" G_GSIZE_FORMAT " bytes of the tensors", total);
      return NULL;
    }
  memcpy (out, g_bytes_get_data (start, NULL), at);
  for (guint i = 0; i < items->len; i++)
    {
      g_autoptr (GBytes) dense = dense_bytes (&g_array_index (items, Item, i));
      gsize size;
      const void *data = g_bytes_get_data (dense, &size);

      if (size > 0)
        memcpy (out + at, data, size);
      at += size;
    }
  return g_bytes_new_take (out, total);
}

GBytes *
adj_safetensors_write (const char *const *names,
                       AdjTensorData *const *tensors,
                       guint n,
                       GError **error)
{
  g_autoptr (GArray) items = list_items (names, tensors, n, error);
  g_autoptr (GBytes) start = items != NULL ? print_start (items, error) : NULL;

  return start != NULL ? assemble (items, start, error) : NULL;
}

/* A file on its way to the disk. */
typedef struct
{
  GBytes *start;
  const GArray *items;
  guint next; /* 0: the header */
} Saving;

static GBytes *
next_chunk (gpointer data)
{
  Saving *saving = data;
  guint next = saving->next++;

  if (next == 0)
    return g_bytes_ref (saving->start);
  return next <= saving->items->len ? dense_bytes (&g_array_index (saving->items, Item, next - 1))
                                    : NULL;
}

gboolean
adj_safetensors_save (const char *path,
                      const char *const *names,
                      AdjTensorData *const *tensors,
                      guint n,
                      GError **error)
{
  g_autoptr (GArray) items = list_items (names, tensors, n, error);
  g_autoptr (GBytes) start = items != NULL ? print_start (items, error) : NULL;
  Saving saving = { start, items, 0 };
  SaveMeter meter = { .n_passes = 1 };

  if (start != NULL)
    return file_replace_by (path, next_chunk, &saving, &meter, error);
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}
