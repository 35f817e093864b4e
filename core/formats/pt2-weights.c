/* SPDX-License-Identifier: MIT */
/* Parameters, buffers and constants of exported programs: whole storages as entries that a list
 * names, or archives of torch.save inside the archive. */

#include <string.h>

#include "formats/pt2-private.h"
#include "formats/torch-save-private.h"
#include "ir/adj-opaque.h"
#include "tensor/adj-tensor-data.h"

#define MAX_CONFIG_BYTES (G_GUINT64_CONSTANT (1) << 30)
#define MAX_OBJECT_BYTES (G_GUINT64_CONSTANT (1) << 24)

typedef struct
{
  Pt2Archive *archive;
  Pt2Weights *weights;
  GHashTable *records; /* name of an entry → AdjLateBytes: what shares memory goes on doing so */
  Pt2Scope scope;
} Loader;

static void
warn (const Pt2Archive *archive, const char *name, const char *why)
{
  adj_diags_add (archive->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 }, "%s: %s", name, why);
}

/* @name of the first list that has it counts. */
static void
add (Pt2Weights *weights, const char *name, AdjTensorData *data)
{
  if (!g_hash_table_contains (weights->tensors, name))
    g_hash_table_insert (weights->tensors, g_strdup (name), adj_tensor_data_ref (data));
}

/* -- archives of torch.save -- */

static void
add_object (Pt2Weights *weights, const char *name, AdjOpaque *object)
{
  if (!g_hash_table_contains (weights->objects, name))
    g_hash_table_insert (weights->objects, g_strdup (name), adj_opaque_ref (object));
}

static void
add_saved (Loader *loader, const AdjValue *saved)
{
  for (guint i = 0; saved->kind == ADJ_VALUE_DICT && i + 1 < saved->n; i += 2)
    {
      const AdjValue *value = &saved->items[i + 1];

      if (saved->items[i].kind != ADJ_VALUE_STRING)
        continue;
      if (value->kind == ADJ_VALUE_DATA)
        add (loader->weights, saved->items[i].text, value->data);
      else if (value->kind == ADJ_VALUE_OPAQUE_OBJECT)
        add_object (loader->weights, saved->items[i].text, value->object);
    }
}

/* An entry of no bytes is a dict of nothing. */
static gboolean
read_saved (Loader *loader, const char *entry, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s: %s", loader->archive->path, entry);
  g_autoptr (GError) reason = NULL;
  g_autoptr (AdjFilePart) part = pt2_archive_get_part (loader->archive, entry, &reason);
  g_auto (AdjValue) saved = ADJ_NONE;

  if (reason != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  if (part == NULL || adj_file_part_get_size (part) == 0)
    return TRUE;
  if (!torch_save_read (part, name, loader->archive->diags, &saved, error))
    return FALSE;
  add_saved (loader, &saved);
  return TRUE;
}

/* -- lists of storages -- */

static gboolean
fail_missing (const char *entry, GError **error)
{
  if (error == NULL || *error == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "there is no entry %s", entry);
  return FALSE;
}

/* (transfer none) (nullable) */
static AdjLateBytes *
find_record (Loader *loader, const char *entry, GError **error)
{
  ZipArchive *zip = loader->archive->archive;
  AdjLateBytes *known = g_hash_table_lookup (loader->records, entry);
  g_autofree char *name = g_strconcat (loader->archive->root, entry, NULL);
  guint index;

  if (known != NULL)
    return known;
  if (zip_find (zip, name, &index))
    known = torch_save_get_bytes (zip, index, loader->archive->diags, error);
  if (known != NULL)
    g_hash_table_insert (loader->records, g_strdup (entry), known);
  else
    fail_missing (entry, error);
  return known;
}

/* The one value of an archive of torch.save. */
static gboolean
unpickle (Loader *loader, const char *entry, AdjValue *out, GError **error)
{
  g_autoptr (AdjFilePart) part = pt2_archive_get_part (loader->archive, entry, error);

  if (part == NULL)
    return fail_missing (entry, error);
  if (!torch_save_read (part, entry, loader->archive->diags, out, error))
    return FALSE;
  if (out->kind == ADJ_VALUE_DATA || out->kind == ADJ_VALUE_OPAQUE_OBJECT)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s is no plain tensor", entry);
  return FALSE;
}

/* An object of a class that torch._library.opaque_object registered. */
static gboolean
read_object (Loader *loader, const char *entry, AdjValue *out, GError **error)
{
  g_autoptr (GBytes) bytes = pt2_archive_read (loader->archive, entry, MAX_OBJECT_BYTES, error);
  AdjOpaque *object;

  if (bytes == NULL)
    return fail_missing (entry, error);
  if (!pt2_object_is (bytes))
    return unpickle (loader, entry, out, error);
  object = pt2_object_read (bytes, entry, error);
  if (object != NULL)
    *out = ADJ_OPAQUE (object);
  return object != NULL;
}

/* {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta": {…}} */
static gboolean
read_payload (
    Loader *loader, const char *folder, const JsonItem *payload, AdjValue *out, GError **error)
{
  const char *path = json_get_text (payload, "path_name");
  const JsonItem *pickled = json_get (payload, "use_pickle");
  g_autofree char *entry = g_strconcat (folder, path != NULL ? path : "", NULL);
  AdjTensorData *data;
  AdjLateBytes *bytes;
  AdjTensorMeta meta;

  if (path != NULL && g_str_has_prefix (path, "opaque_obj_"))
    return read_object (loader, entry, out, error);
  if (pickled != NULL && pickled->kind == JSON_TRUE)
    return unpickle (loader, entry, out, error);
  bytes = find_record (loader, entry, error);
  if (bytes == NULL ||
      !pt2_read_tensor_meta (&loader->scope, json_get (payload, "tensor_meta"), &meta, error))
    return FALSE;
  data = adj_tensor_data_new_late (&meta, bytes, error);
  if (data != NULL)
    *out = ADJ_DATA (data);
  return data != NULL;
}

static void
add_payload (Loader *loader, const char *folder, const JsonItem *payload)
{
  g_autoptr (GError) reason = NULL;
  g_auto (AdjValue) value = ADJ_NONE;

  if (!read_payload (loader, folder, payload, &value, &reason))
    warn (loader->archive, payload->key, reason->message);
  else if (value.kind == ADJ_VALUE_DATA)
    add (loader->weights, payload->key, value.data);
  else
    add_object (loader->weights, payload->key, value.object);
}

static gboolean
read_config (Loader *loader, const char *folder, const char *entry, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s: %s", loader->archive->path, entry);
  g_autoptr (GBytes) bytes = pt2_archive_read (loader->archive, entry, MAX_CONFIG_BYTES, error);
  JsonReader json;
  const JsonItem *root, *config;
  gsize length;
  const char *text;

  if (bytes == NULL)
    return FALSE;
  text = g_bytes_get_data (bytes, &length);
  if (!json_reader_init (&json, name, text != NULL ? text : "", length, error) ||
      (root = json_read (&json, loader->scope.arena, error)) == NULL)
    return FALSE;
  loader->scope.json = &json;
  config = json_get (root, "config");
  if (config == NULL || config->kind != JSON_OBJECT)
    {
      json_fail (&json, root, error, "expected the object \"config\"");
      return FALSE;
    }
  for (guint i = 0; i < config->n; i++)
    add_payload (loader, folder, &config->items[i]);
  return TRUE;
}

/* Lists have been called "model_weights_config.json" and "model_model_param_config.json". */
static gboolean
read_folder (Loader *loader, const char *folder, const char *model, GError **error)
{
  ZipArchive *zip = loader->archive->archive;
  g_autofree char *prefix = g_strdup_printf ("%s%s%s_", loader->archive->root, folder, model);
  g_autofree char *saved = g_strdup_printf ("%s%s.pt", folder, model);

  for (guint i = 0; i < zip_get_n (zip); i++)
    {
      const char *entry = zip_get_name (zip, i);

      if (g_str_has_prefix (entry, prefix) && g_str_has_suffix (entry, "_config.json") &&
          !read_config (loader, folder, entry + strlen (loader->archive->root), error))
        return FALSE;
    }
  return read_saved (loader, saved, error);
}

static gboolean
read_all (Loader *loader, const char *model, GError **error)
{
  if (model != NULL)
    return read_folder (loader, "data/weights/", model, error) &&
           read_folder (loader, "data/constants/", model, error);
  return read_saved (loader, "serialized_state_dict.pt", error) &&
         read_saved (loader, "serialized_state_dict.json", error) &&
         read_saved (loader, "serialized_constants.pt", error);
}

gboolean
pt2_weights_read (Pt2Archive *archive, const char *model, Pt2Weights *weights, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  Loader loader = { .archive = archive,
                    .weights = weights,
                    .scope = { .arena = arena, .symbols = symbols } };
  gboolean good;

  weights->tensors = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                            (GDestroyNotify) adj_tensor_data_unref);
  weights->objects =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) adj_opaque_unref);
  loader.records = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                          (GDestroyNotify) adj_late_bytes_unref);
  good = read_all (&loader, model, error);
  g_hash_table_unref (loader.records);
  return good;
}

void
pt2_weights_clear (Pt2Weights *weights)
{
  g_clear_pointer (&weights->tensors, g_hash_table_unref);
  g_clear_pointer (&weights->objects, g_hash_table_unref);
}
