/* SPDX-License-Identifier: MIT */
/* Entries of .adjoint in a zip archive or in a folder: read with their hashes checked, written
 * together. */

#include <errno.h>
#include <gio/gio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/adj-file-internal.h"
#include "formats/entries-private.h"
#include "formats/zip-private.h"

#define MANIFEST "adjoint.json"
#define UNFINISHED "unfinished.adjoint"
#define MAX_DEEPER 3 /* how many entries the error for a missing entry lists */

struct _Entries
{
  char *path;
  char *folder;           /* (nullable) */
  GStatBuf manifest;      /* stat() of the folder's manifest at opening */
  ZipArchive *archive;    /* (nullable) */
  gboolean is_unfinished; /* the archive is one in a folder */
};

/* (nullable): the folder that @path means: an existing one, one to be made (ends in '/'), or that
 * of a manifest. */
static char *
folder_of (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);

  if (g_file_test (path, G_FILE_TEST_IS_DIR) || g_str_has_suffix (path, G_DIR_SEPARATOR_S))
    return g_strdup (path);
  return strcmp (base, MANIFEST) == 0 ? g_path_get_dirname (path) : NULL;
}

static gboolean
open_archive (Entries *entries,
              const char *path,
              AdjFileFlags flags,
              GCancellable *cancellable,
              GError **error)
{
  g_autoptr (AdjFilePart) part = adj_file_part_open (path, flags, cancellable, error);

  entries->archive = part != NULL ? zip_open (part, path, error) : NULL;
  return entries->archive != NULL;
}

/* Opens the archive that an interrupted writer left in the folder, if there is one: until it is
 * unpacked, it is authoritative. */
static gboolean
open_folder (Entries *entries, GCancellable *cancellable, GError **error)
{
  g_autofree char *unfinished = g_build_filename (entries->folder, UNFINISHED, NULL);
  g_autofree char *manifest = g_build_filename (entries->folder, MANIFEST, NULL);
  g_autoptr (GError) reason = NULL;

  if (g_stat (manifest, &entries->manifest) != 0)
    entries->manifest = (GStatBuf){ 0 };
  if (open_archive (entries, unfinished, ADJ_FILE_NO_LINK, cancellable, &reason))
    {
      entries->is_unfinished = TRUE;
      g_clear_pointer (&entries->folder, g_free);
    }
  else if (!g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    {
      g_propagate_error (error, g_steal_pointer (&reason));
      return FALSE;
    }
  return TRUE;
}

gboolean
entries_are_folder (const char *path)
{
  static const char *const names[] = { MANIFEST, UNFINISHED };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *file = g_build_filename (path, names[i], NULL);

      if (g_file_test (file, G_FILE_TEST_IS_REGULAR))
        return TRUE;
    }
  return FALSE;
}

Entries *
entries_open (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (Entries) entries = g_new0 (Entries, 1);
  gboolean opened;

  entries->path = g_strdup (path);
  entries->folder = folder_of (path);
  opened = entries->folder != NULL
               ? open_folder (entries, cancellable, error)
               : open_archive (entries, path, ADJ_FILE_WHOLE, cancellable, error);
  return opened ? g_steal_pointer (&entries) : NULL;
}

gboolean
entries_are_unfinished (const Entries *entries)
{
  return entries->is_unfinished;
}

gboolean
entries_check_unchanged (const Entries *entries, GError **error)
{
  g_autofree char *manifest = NULL;
  g_autofree char *unfinished = NULL;
  GStatBuf now;

  if (entries->folder == NULL)
    return TRUE;
  manifest = g_build_filename (entries->folder, MANIFEST, NULL);
  unfinished = g_build_filename (entries->folder, UNFINISHED, NULL);
  if (g_stat (manifest, &now) == 0 && now.st_ino == entries->manifest.st_ino &&
      now.st_mtim.tv_sec == entries->manifest.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == entries->manifest.st_mtim.tv_nsec &&
      !g_file_test (unfinished, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_STALE, "%s: somebody changed it while it was read",
               entries->path);
  return FALSE;
}

void
entries_free (Entries *entries)
{
  g_clear_pointer (&entries->archive, zip_free);
  g_free (entries->folder);
  g_free (entries->path);
  g_free (entries);
}

gboolean
entries_has (const Entries *entries, const char *name)
{
  g_autofree char *path = NULL;
  guint index;

  if (entries->archive != NULL)
    return zip_find (entries->archive, name, &index);
  path = g_build_filename (entries->folder, name, NULL);
  return g_file_test (path, G_FILE_TEST_IS_REGULAR);
}

/* Fails for a missing entry, with a hint when all entries are one level too deep: the folder was
 * packed, not its content. */
static GBytes *
fail_missing (const Entries *entries, const char *name, GError **error)
{
  g_autofree char *suffix = g_strconcat ("/", name, NULL);
  g_autoptr (GString) deeper = g_string_new (NULL);
  guint n = 0;

  for (guint i = 0; entries->archive != NULL && i < zip_get_n (entries->archive); i++)
    if (g_str_has_suffix (zip_get_name (entries->archive, i), suffix) && n++ < MAX_DEEPER)
      g_string_append_printf (deeper, "%s%s", deeper->len > 0 ? ", " : "; there is ",
                              zip_get_name (entries->archive, i));
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s: %s is missing%s%s", entries->path, name,
               deeper->str, n > MAX_DEEPER ? " and others" : "");
  return NULL;
}

/* Links are not followed, so that a folder from another person cannot make us read another place.
 */
static GBytes *
read_in_folder (const Entries *entries, const char *name, guint64 max_bytes, GError **error)
{
  g_autofree char *path = g_build_filename (entries->folder, name, NULL);
  g_autoptr (GError) reason = NULL;
  GBytes *bytes = adj_file_read (path, ADJ_FILE_NO_LINK, max_bytes, NULL, &reason);

  if (bytes == NULL && g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    return fail_missing (entries, name, error);
  if (bytes == NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return bytes;
}

GBytes *
entries_read (
    Entries *entries, const char *name, guint64 max_bytes, AdjDiags *diags, GError **error)
{
  guint index;

  if (entries->folder != NULL)
    return read_in_folder (entries, name, max_bytes, error);
  if (!zip_find (entries->archive, name, &index))
    return fail_missing (entries, name, error);
  return zip_read (entries->archive, index, max_bytes, diags, error);
}

static AdjFilePart *
get_part_in_folder (const Entries *entries, const char *name, GError **error)
{
  g_autofree char *path = g_build_filename (entries->folder, name, NULL);
  g_autoptr (GError) reason = NULL;
  AdjFilePart *part = adj_file_part_open (path, ADJ_FILE_NO_LINK, NULL, &reason);

  if (part == NULL && g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
    fail_missing (entries, name, error);
  else if (part == NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  return part;
}

AdjFilePart *
entries_get_part (Entries *entries, const char *name, AdjDiags *diags, GError **error)
{
  g_autoptr (AdjFilePart) part = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint index;

  if (entries->folder != NULL)
    return get_part_in_folder (entries, name, error);
  if (zip_find (entries->archive, name, &index))
    part = zip_get_part (entries->archive, index);
  if (part != NULL && adj_file_part_peek (part) == NULL)
    return g_steal_pointer (&part);
  bytes = entries_read (entries, name, G_MAXINT64, diags, error);
  return bytes != NULL ? adj_file_part_new_for_bytes (bytes) : NULL;
}

void
entries_check_hash (
    const char *name, GBytes *bytes, const char *sha256, AdjSeverity severity, AdjDiags *diags)
{
  g_autofree char *found = NULL;

  if (sha256 == NULL)
    return;
  found = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
  if (g_ascii_strcasecmp (found, sha256) != 0)
    adj_diags_add (diags, severity, (AdjSpan){ 0 },
                   "%s: edited by hand (its sha256 is not the one in adjoint.json)", name);
}

/* -- writing -- */

static gboolean
write_piece (const guint8 *bytes, gsize length, gpointer writer, GError **error)
{
  return adj_file_writer_write (writer, bytes, length, error);
}

static gboolean
write_chunks (
    AdjFileWriter *writer, ChunkFunc next, gpointer data, SaveMeter *meter, GError **error)
{
  GBytes *chunk;
  gboolean good = TRUE;

  while (good && (chunk = next (data)) != NULL)
    {
      good = save_meter_pass (meter, chunk, write_piece, writer, error);
      g_bytes_unref (chunk);
    }
  return good && adj_file_writer_commit (writer, ADJ_FILE_LASTING, meter->cancellable, error);
}

gboolean
file_replace_by (const char *path, ChunkFunc next, gpointer data, SaveMeter *meter, GError **error)
{
  AdjFileWriter *given = meter->options != NULL ? meter->options->writer : NULL;
  g_autoptr (AdjFileWriter) own = NULL;

  if (given == NULL)
    own = adj_file_writer_open (path, meter->cancellable, error);
  return (given != NULL || own != NULL) &&
         write_chunks (given != NULL ? given : own, next, data, meter, error);
}

typedef struct
{
  GPtrArray *chunks;
  guint next;
} ChunkList;

static GBytes *
next_of_list (gpointer data)
{
  ChunkList *list = data;

  return list->next < list->chunks->len ? g_bytes_ref (list->chunks->pdata[list->next++]) : NULL;
}

gboolean
file_replace (const char *path, GPtrArray *chunks, SaveMeter *meter, GError **error)
{
  ChunkList list = { chunks, 0 };

  return file_replace_by (path, next_of_list, &list, meter, error);
}

static gboolean
make_folder (const char *path, GError **error)
{
  return g_mkdir_with_parents (path, 0777) == 0 || adj_file_fail (path, errno, error);
}

static gboolean
write_item (AdjFileWriter *writer, const ZipItem *item, SaveMeter *meter, GError **error)
{
  gpointer one = item->bytes;
  GPtrArray chunks = { &one, 1 };
  ChunkList list = { &chunks, 0 };

  return write_chunks (writer, next_of_list, &list, meter, error);
}

static gboolean
write_in_folder (const char *folder, const ZipItem *item, SaveMeter *meter, GError **error)
{
  g_autofree char *path = g_build_filename (folder, item->name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (AdjFileWriter) writer = NULL;

  if (!make_folder (parent, error))
    return FALSE;
  writer = adj_file_writer_open (path, meter->cancellable, error);
  return writer != NULL && write_item (writer, item, meter, error);
}

/* Removes files of @folder/@part that end in @suffix and are not among @names. */
static void
remove_stale (const char *folder, const char *part, const char *suffix, GHashTable *names)
{
  g_autofree char *place = g_build_filename (folder, part, NULL);
  g_autoptr (GDir) dir = g_dir_open (place, 0, NULL);
  const char *found;

  while (dir != NULL && (found = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *name = g_build_filename (part, found, NULL);
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_str_has_suffix (found, suffix) && !g_hash_table_contains (names, name))
        g_unlink (path);
    }
}

/* @writer: of the manifest, which is written last; @is_ours: removes entries of the older manifest
 * that are not among @items. */
static gboolean
take_apart (AdjFileWriter *writer,
            const char *folder,
            const ZipItem *items,
            guint n,
            gboolean is_ours,
            SaveMeter *meter,
            GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 1; i < n; i++)
    {
      if (!write_in_folder (folder, &items[i], meter, error))
        return FALSE;
      g_hash_table_add (names, items[i].name);
    }
  if (is_ours)
    {
      remove_stale (folder, "graphs", ".json", names);
      remove_stale (folder, "tensors", ".safetensors", names);
      remove_stale (folder, "text", ".txt", names);
    }
  return write_item (writer, &items[0], meter, error);
}

/* Writes all items as one archive; none is written, without an error, where they exceed the limit
 * of one. */
static gboolean
write_whole (const char *path, const ZipItem *items, guint n, SaveMeter *meter, GError **error)
{
  g_autoptr (GError) reason = NULL;
  g_autoptr (GPtrArray) chunks = zip_write (items, n, meter, &reason);
  g_autoptr (AdjFileWriter) writer = NULL;
  ChunkList list = { chunks, 0 };

  if (chunks == NULL && g_error_matches (reason, ADJ_ERROR, ADJ_ERROR_LIMIT))
    return TRUE;
  if (chunks == NULL)
    g_propagate_error (error, g_steal_pointer (&reason));
  else
    writer = adj_file_writer_open (path, meter->cancellable, error);
  return writer != NULL && write_chunks (writer, next_of_list, &list, meter, error);
}

static gboolean
write_folder (AdjFileWriter *writer,
              const char *folder,
              const ZipItem *items,
              guint n,
              SaveMeter *meter,
              GError **error)
{
  g_autofree char *unfinished = g_build_filename (folder, UNFINISHED, NULL);
  gboolean is_ours = entries_are_folder (folder);
  SaveMeter unstoppable = *meter;

  unstoppable.cancellable = NULL;
  if (!write_whole (unfinished, items, n, meter, error))
    return FALSE;
  if (!take_apart (writer, folder, items, n, is_ours, &unstoppable, error))
    {
      if (g_file_test (unfinished, G_FILE_TEST_EXISTS))
        g_prefix_error (error, "all of it stands in %s until it is written again: ", unfinished);
      return FALSE;
    }
  return g_unlink (unfinished) == 0 || errno == ENOENT || adj_file_fail (unfinished, errno, error);
}

guint
entries_count_passes (const char *path)
{
  g_autofree char *folder = folder_of (path);

  return folder != NULL ? 3 : 2;
}

AdjFileWriter *
entries_open_writer (const char *path, GCancellable *cancellable, GError **error)
{
  g_autofree char *folder = folder_of (path);
  g_autofree char *manifest = NULL;

  if (folder == NULL)
    return adj_file_writer_open (path, cancellable, error);
  manifest = g_build_filename (folder, MANIFEST, NULL);
  return make_folder (folder, error) ? adj_file_writer_open (manifest, cancellable, error) : NULL;
}

static gboolean
write_archive (const char *path, const ZipItem *items, guint n, SaveMeter *meter, GError **error)
{
  g_autoptr (GPtrArray) chunks = zip_write (items, n, meter, error);

  if (chunks != NULL)
    return file_replace (path, chunks, meter, error);
  g_prefix_error (error, "%s: ", path);
  return FALSE;
}

gboolean
entries_write (const char *path, const ZipItem *items, guint n, SaveMeter *meter, GError **error)
{
  AdjFileWriter *given = meter->options != NULL ? meter->options->writer : NULL;
  g_autofree char *folder = folder_of (path);
  g_autoptr (AdjFileWriter) own = NULL;

  if (folder == NULL)
    return write_archive (path, items, n, meter, error);
  if (given == NULL)
    own = entries_open_writer (path, meter->cancellable, error);
  return (given != NULL || own != NULL) &&
         write_folder (given != NULL ? given : own, folder, items, n, meter, error);
}
