/* SPDX-License-Identifier: MIT */
/* The tensor files of an .adjoint file: opened on demand, checked, and shared by values with one
 * key. */

#include <string.h>

#include "formats/adj-bundle-private.h"
#include "formats/adj-safetensors.h"
#include "formats/pairs-private.h"
#include "formats/safetensors-private.h"
#include "formats/tensor-files-private.h"
#include "ir/adj-graph.h"

struct _TensorFiles
{
  const char *path;   /* (unowned) */
  Entries *entries;   /* (unowned) */
  AdjDiags *diags;    /* (unowned) */
  GHashTable *hashes; /* id → sha256 */
  GHashTable *by_id;  /* id → AdjSafetensors */
  GHashTable *taps;   /* "narrow wide" → Taps; empty once loading has ended */
  GPtrArray *views;   /* AdjTensorData that were made for values */
  GHashTable *used;   /* AdjTensorData that a value refers to */
  GHashTable *tapped; /* AdjSafetensors whose tensors belong to nodes */
};

typedef struct
{
  TensorFiles *files;            /* (owned) */
  AdjSafetensors *narrow, *wide; /* (nullable) */
} Taps;

static void
clear_files (gpointer data)
{
  TensorFiles *files = data;

  g_hash_table_unref (files->hashes);
  g_hash_table_unref (files->taps);
  g_hash_table_unref (files->by_id);
  g_ptr_array_unref (files->views);
  g_hash_table_unref (files->used);
  g_hash_table_unref (files->tapped);
}

static void
clear_taps (gpointer data)
{
  g_atomic_rc_box_release_full (((Taps *) data)->files, clear_files);
}

static void
release_taps (gpointer data)
{
  g_atomic_rc_box_release_full (data, clear_taps);
}

TensorFiles *
tensor_files_new (const char *path, Entries *entries, AdjDiags *diags)
{
  TensorFiles *files = g_atomic_rc_box_new0 (TensorFiles);

  files->path = path;
  files->entries = entries;
  files->diags = diags;
  files->hashes = g_hash_table_new (g_str_hash, g_str_equal);
  files->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                        (GDestroyNotify) adj_safetensors_free);
  files->taps = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, release_taps);
  files->used = g_hash_table_new (NULL, NULL);
  files->tapped = g_hash_table_new (NULL, NULL);
  files->views = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  return files;
}

void
tensor_files_close (TensorFiles *files)
{
  files->path = NULL;
  files->entries = NULL;
  files->diags = NULL;
  g_hash_table_remove_all (files->hashes);
  g_hash_table_remove_all (files->taps);
  g_ptr_array_set_size (files->views, 0);
  g_atomic_rc_box_release_full (files, clear_files);
}

void
tensor_files_set_hash (TensorFiles *files, const char *id, const char *sha256)
{
  g_hash_table_insert (files->hashes, (gpointer) id, (gpointer) sha256);
}

static AdjSafetensors *
open_late (AdjFilePart *part, const char *name, const char *sha256, GError **error)
{
  g_autoptr (LateEntry) entry = late_entry_new (part, name, sha256);

  return safetensors_read_late (part, entry, name, error);
}

/* Opens a tensor file.  A wrong hash of one in memory is reported now, so that users are asked
 * before values of an edited file are used. */
static AdjSafetensors *
open_tensors (TensorFiles *files, const char *id, GError **error)
{
  g_autofree char *entry = g_strdup_printf ("tensors/%s.safetensors", id);
  g_autofree char *name = g_strdup_printf ("%s: %s", files->path, entry);
  const char *sha256 = g_hash_table_lookup (files->hashes, id);
  g_autoptr (AdjFilePart) part = entries_get_part (files->entries, entry, files->diags, error);
  GBytes *bytes = part != NULL ? adj_file_part_peek (part) : NULL;
  AdjSafetensors *file;

  if (part == NULL)
    return NULL;
  if (bytes != NULL)
    entries_check_hash (entry, bytes, sha256, ADJ_SEVERITY_ERROR, files->diags);
  file = bytes != NULL ? adj_safetensors_read (bytes, name, error)
                       : open_late (part, name, sha256, error);
  if (file != NULL)
    g_hash_table_insert (files->by_id, g_strdup (id), file);
  return file;
}

/* The tensor file that @id names. */
static AdjSafetensors *
get_tensors (TensorFiles *files, const JsonReader *json, const JsonItem *id, GError **error)
{
  AdjSafetensors *file;

  if (id->kind != JSON_STRING || !bundle_is_id (id->text))
    {
      json_fail (json, id, error, "expected the id of a tensor file");
      return NULL;
    }
  file = g_hash_table_lookup (files->by_id, id->text);
  return file != NULL ? file : open_tensors (files, id->text, error);
}

static gboolean
read_sizes (const JsonItem *view, const char *key, AdjSize *out, guint *n)
{
  const JsonItem *list = json_get (view, key);

  if (list == NULL || list->kind != JSON_ARRAY || list->n > ADJ_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    {
      if (list->items[i].kind != JSON_INT || list->items[i].integer < 0)
        return FALSE;
      out[i] = ADJ_SIZE (list->items[i].integer);
    }
  *n = list->n;
  return TRUE;
}

/* Complex numbers that safetensors has no type for are stored as pairs, [n, 2]. */
static gboolean
read_pairs (const JsonReader *json, const JsonItem *view, AdjDType *dtype, GError **error)
{
  const char *name = json_get_text (view, "dtype");
  AdjDType complex;

  if (name == NULL)
    return TRUE;
  complex = adj_dtype_from_code (name, -1);
  if ((complex == ADJ_DTYPE_C32 && *dtype == ADJ_DTYPE_F16) ||
      (complex == ADJ_DTYPE_C64 && *dtype == ADJ_DTYPE_F32) ||
      (complex == ADJ_DTYPE_C128 && *dtype == ADJ_DTYPE_F64))
    {
      *dtype = complex;
      return TRUE;
    }
  json_fail (json, view, error, "%s is no pair of what is stored", name);
  return FALSE;
}

/* Another shape over the bytes of @stored: values of the same key alias. */
static AdjTensorData *
make_view (TensorFiles *files,
           const JsonReader *json,
           AdjTensorData *stored,
           const JsonItem *view,
           GError **error)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (stored);
  gint64 offset = json_get_int (view, "offset", 0);
  guint n_strides = 0;
  g_autoptr (GError) reason = NULL;
  AdjTensorData *data;

  if (!read_sizes (view, "size", meta.shape.size, &meta.shape.rank) ||
      !read_sizes (view, "stride", meta.shape.stride, &n_strides) || n_strides != meta.shape.rank ||
      offset < 0)
    {
      json_fail (json, view, error,
                 "a view needs whole numbers as \"size\", \"stride\", \"offset\"");
      return NULL;
    }
  if (!read_pairs (json, view, &meta.dtype, error))
    return NULL;
  meta.shape.offset = ADJ_SIZE (offset);
  data = adj_tensor_data_new_view (&meta, stored, &reason);
  if (data == NULL)
    json_fail (json, view, error, "%s", reason->message);
  else
    g_ptr_array_add (files->views, data);
  return data;
}

AdjTensorData *
tensor_files_get (TensorFiles *files, const JsonReader *json, const JsonItem *place, GError **error)
{
  AdjSafetensors *file;
  AdjTensorData *stored;
  const JsonItem *key;
  g_autoptr (GError) reason = NULL;

  if (place->kind != JSON_ARRAY || (place->n != 2 && place->n != 3) ||
      place->items[1].kind != JSON_STRING)
    {
      json_fail (json, place, error, "expected [file, key] or [file, key, view]");
      return NULL;
    }
  file = get_tensors (files, json, &place->items[0], error);
  if (file == NULL)
    return NULL;
  key = &place->items[1];
  stored = adj_safetensors_find (file, key->text, &reason);
  if (stored == NULL)
    {
      json_fail (json, key, error, "%s.safetensors: %s", place->items[0].text, reason->message);
      return NULL;
    }
  g_hash_table_add (files->used, stored);
  return place->n == 2 ? stored : make_view (files, json, stored, &place->items[2], error);
}

/* -- taps -- */

/* Complex values without a type in safetensors are stored as pairs under "NODE.c128". */
static AdjTensorData *
find_pairs (const AdjSafetensors *file, const char *node, AdjDType dtype)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", node, adj_dtype_info (dtype)->code);
  AdjTensorData *pairs = adj_safetensors_find (file, name, NULL);

  return pairs != NULL ? pairs_to_complex (pairs, dtype) : NULL;
}

static AdjTensorData *
get_tap (const char *node, gboolean float64, gpointer data)
{
  const Taps *taps = data;
  const AdjSafetensors *file = float64 ? taps->wide : taps->narrow;
  AdjTensorData *found = file != NULL ? adj_safetensors_find (file, node, NULL) : NULL;

  if (found != NULL || file == NULL)
    return found != NULL ? adj_tensor_data_ref (found) : NULL;
  found = find_pairs (file, node, ADJ_DTYPE_C128);
  return found != NULL ? found : find_pairs (file, node, ADJ_DTYPE_C32);
}

static gboolean
read_tap_file (TensorFiles *files,
               const JsonReader *json,
               const JsonItem *taps,
               const char *key,
               AdjSafetensors **out,
               GError **error)
{
  const JsonItem *id = json_get (taps, key);

  if (id == NULL || id->kind == JSON_NULL)
    return TRUE;
  *out = get_tensors (files, json, id, error);
  if (*out != NULL)
    g_hash_table_add (files->tapped, *out);
  return *out != NULL;
}

gboolean
tensor_files_set_taps (TensorFiles *files,
                       AdjBundleBuilder *builder,
                       const JsonReader *json,
                       const JsonItem *item,
                       GError **error)
{
  AdjSafetensors *narrow = NULL, *wide = NULL;
  g_autofree char *key = NULL;
  Taps *taps;

  if (item == NULL || item->kind == JSON_NULL)
    return TRUE;
  if (!read_tap_file (files, json, item, "f32", &narrow, error) ||
      !read_tap_file (files, json, item, "f64", &wide, error))
    return FALSE;
  key = g_strdup_printf ("%p %p", (void *) narrow, (void *) wide);
  taps = g_hash_table_lookup (files->taps, key);
  if (taps == NULL)
    {
      taps = g_atomic_rc_box_new0 (Taps);
      taps->files = g_atomic_rc_box_acquire (files);
      taps->narrow = narrow;
      taps->wide = wide;
      g_hash_table_insert (files->taps, g_steal_pointer (&key), taps);
    }
  adj_bundle_builder_set_taps (builder, get_tap, g_atomic_rc_box_acquire (taps), release_taps);
  return TRUE;
}

/* -- what nothing refers to -- */

/* (transfer container): as a set */
static GHashTable *
list_nodes (const AdjBundle *bundle)
{
  GHashTable *names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjGraph *graph = adj_bundle_get_graph (bundle, i)->graph;

      for (guint k = 0; k < adj_graph_get_n_nodes (graph); k++)
        g_hash_table_add (names, (gpointer) adj_graph_get_node (graph, k)->name);
    }
  return names;
}

static void
keep_loose_of (TensorFiles *files, const char *id, GHashTable *nodes, AdjBundleBuilder *builder)
{
  g_autoptr (GError) reason = NULL;
  AdjSafetensors *file = g_hash_table_lookup (files->by_id, id);
  gboolean is_tapped;

  if (file == NULL)
    file = open_tensors (files, id, &reason);
  if (file == NULL)
    {
      adj_diags_add (files->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 }, "not kept: %s",
                     reason->message);
      return;
    }
  is_tapped = g_hash_table_contains (files->tapped, file);
  for (guint i = 0; i < adj_safetensors_get_n (file); i++)
    {
      const char *key = adj_safetensors_get_name (file, i);
      AdjTensorData *data = adj_safetensors_get (file, i);

      if (data != NULL && !g_hash_table_contains (files->used, data) &&
          !(is_tapped && g_hash_table_contains (nodes, key)))
        bundle_builder_keep_tensor (builder, id, key, data);
    }
}

void
tensor_files_keep_loose (TensorFiles *files, AdjBundleBuilder *builder)
{
  g_autoptr (GHashTable) nodes = list_nodes (bundle_builder_peek (builder));
  g_autoptr (GList) ids =
      g_list_sort (g_hash_table_get_keys (files->hashes), (GCompareFunc) strcmp);

  for (GList *id = ids; id != NULL; id = id->next)
    if (bundle_is_id (id->data))
      keep_loose_of (files, id->data, nodes, builder);
}
