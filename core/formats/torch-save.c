/* SPDX-License-Identifier: MIT */
/* Archives of torch.save: a pickle that names tensors, and their storages beside it. */

#include <string.h>

#include "formats/saved-values-private.h"
#include "formats/torch-save-private.h"

#define PICKLE "data.pkl"
#define MAX_PICKLE_BYTES (G_GUINT64_CONSTANT (1) << 30)

#define ALIGNMENT 16

typedef struct
{
  const char *name; /* (unowned) */
  ZipArchive *archive;
  char *root; /* (owned): of the names of its entries, "archive/" */
  AdjDiags *diags;
  GHashTable *storages; /* key → AdjLateBytes */
} Loader;

static void
clear_loader (Loader *loader)
{
  g_clear_pointer (&loader->archive, zip_free);
  g_free (loader->root);
  g_hash_table_unref (loader->storages);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Loader, clear_loader)

/* (transfer full): @bytes, or a copy of them at an address that every element may have. */
static GBytes *
align (GBytes *bytes)
{
  gsize length;
  gconstpointer data = g_bytes_get_data (bytes, &length);

  return (gsize) data % ALIGNMENT == 0 ? g_bytes_ref (bytes) : g_bytes_new (data, length);
}

AdjLateBytes *
torch_save_get_bytes (ZipArchive *archive, guint index, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjFilePart) part = zip_get_part (archive, index);
  g_autofree char *name =
      g_strdup_printf ("%s: %s", zip_get_path (archive), zip_get_name (archive, index));
  g_autoptr (LateEntry) entry = NULL;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (GBytes) aligned = NULL;

  if (part != NULL && adj_file_part_peek (part) == NULL)
    {
      entry = late_entry_new (part, name, NULL);
      return late_entry_get_bytes (entry, 0, adj_file_part_get_size (part), FALSE);
    }
  bytes = zip_read (archive, index, G_MAXINT64, diags, error);
  aligned = bytes != NULL ? align (bytes) : NULL;
  return aligned != NULL ? adj_late_bytes_new_known (aligned) : NULL;
}

/* (transfer none) (nullable): the bytes of storage @key, which are @n_bytes. */
static AdjLateBytes *
find_storage (gpointer data, const char *key, guint64 n_bytes, GError **error)
{
  Loader *loader = data;
  AdjLateBytes *known = g_hash_table_lookup (loader->storages, key);
  g_autofree char *entry = g_strconcat (loader->root, "data/", key, NULL);
  guint index;

  if (known == NULL)
    {
      if (!zip_find (loader->archive, entry, &index))
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: there is no entry %s", loader->name,
                       entry);
          return NULL;
        }
      known = torch_save_get_bytes (loader->archive, index, loader->diags, error);
      if (known == NULL)
        return NULL;
      g_hash_table_insert (loader->storages, g_strdup (key), known);
    }
  if (adj_late_bytes_get_size (known) == n_bytes)
    return known;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%s: %s has %" G_GSIZE_FORMAT " bytes, the pickle says %" G_GUINT64_FORMAT,
               loader->name, entry, adj_late_bytes_get_size (known), n_bytes);
  return NULL;
}

/* -- the archive -- */

/* Where the entry lies that says what is there: "archive/data.pkl" → "archive/"; %NULL: nowhere. */
static char *
find_root (const ZipArchive *archive)
{
  for (guint i = 0; i < zip_get_n (archive); i++)
    {
      const char *name = zip_get_name (archive, i);
      const char *slash = strrchr (name, '/');

      if (strcmp (slash != NULL ? slash + 1 : name, PICKLE) == 0)
        return g_strndup (name, strlen (name) - strlen (PICKLE));
    }
  return NULL;
}

gboolean
torch_save_is (const ZipArchive *archive)
{
  g_autofree char *root = find_root (archive);

  return root != NULL;
}

/* PyTorch on a machine of the other byte order says so. */
static gboolean
check_byte_order (Loader *loader, GError **error)
{
  g_autofree char *entry = g_strconcat (loader->root, "byteorder", NULL);
  g_autoptr (GBytes) bytes = NULL;
  guint index;

  if (!zip_find (loader->archive, entry, &index))
    return TRUE;
  bytes = zip_read (loader->archive, index, 64, loader->diags, error);
  if (bytes == NULL)
    return FALSE;
  if (g_bytes_get_size (bytes) >= 3 && memcmp (g_bytes_get_data (bytes, NULL), "big", 3) == 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s: was written on a big-endian machine, which is not read", loader->name);
      return FALSE;
    }
  return TRUE;
}

static gboolean
read_pickle (Loader *loader, AdjValue *out, GError **error)
{
  g_autoptr (AdjArena) arena = adj_arena_new ();
  g_autofree char *entry = g_strconcat (loader->root, PICKLE, NULL);
  g_autofree char *name = g_strdup_printf ("%s: %s", loader->name, entry);
  g_autoptr (GBytes) bytes = NULL;
  g_auto (SavedValues) values = { 0 };
  const PickleItem *item;
  gsize length;
  const guint8 *data;
  guint index;

  g_return_val_if_fail (zip_find (loader->archive, entry, &index), FALSE);
  bytes = zip_read (loader->archive, index, MAX_PICKLE_BYTES, loader->diags, error);
  if (bytes == NULL)
    return FALSE;
  data = g_bytes_get_data (bytes, &length);
  item = pickle_read (arena, data, length, name, error);
  saved_values_init (&values, name, loader->diags);
  values.find_storage = find_storage;
  values.data = loader;
  return item != NULL && saved_values_read (&values, item, out, error);
}

gboolean
torch_save_read (
    AdjFilePart *part, const char *name, AdjDiags *diags, AdjValue *out, GError **error)
{
  g_auto (Loader) loader = { .name = name, .diags = diags };

  loader.storages = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                           (GDestroyNotify) adj_late_bytes_unref);
  loader.archive = zip_open (part, name, error);
  if (loader.archive == NULL)
    return FALSE;
  loader.root = find_root (loader.archive);
  if (loader.root == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: an archive without " PICKLE, name);
      return FALSE;
    }
  return check_byte_order (&loader, error) && read_pickle (&loader, out, error);
}
