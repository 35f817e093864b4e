/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "formats/entries-private.h"
#include "formats/zip-private.h"

#define MAP_FROM (16 << 20) /* bytes */
#define MAX_DEEPER 3        /* entries that are named instead of a missing one */

struct _Entries
{
  char *path;
  char *folder;        /* (nullable) */
  ZipArchive *archive; /* (nullable) */
};

static gboolean
fail_with_errno (const char *path, int code, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", path, g_strerror (code));
  return FALSE;
}

static GBytes *
read_all (const char *path, int fd, gsize size, GError **error)
{
  g_autofree guint8 *data = g_malloc (size + 1);
  gsize at = 0;

  while (at < size)
    {
      gssize n = read (fd, data + at, size - at);

      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          fail_with_errno (path, errno, error);
          return NULL;
        }
      if (n == 0)
        break;
      at += n;
    }
  return g_bytes_new_take (g_steal_pointer (&data), at);
}

static GBytes *
read_or_map (const char *path, int fd, guint64 max_bytes, GError **error)
{
  g_autoptr (GMappedFile) map = NULL;
  struct stat facts;

  if (fstat (fd, &facts) != 0)
    {
      fail_with_errno (path, errno, error);
      return NULL;
    }
  if (!S_ISREG (facts.st_mode))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: not a regular file", path);
      return NULL;
    }
  if ((guint64) facts.st_size > max_bytes)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "%s: %" G_GUINT64_FORMAT " bytes, more than %" G_GUINT64_FORMAT, path,
                   (guint64) facts.st_size, max_bytes);
      return NULL;
    }
  if (facts.st_size < MAP_FROM)
    return read_all (path, fd, facts.st_size, error);
  map = g_mapped_file_new_from_fd (fd, FALSE, error);
  return map != NULL ? g_mapped_file_get_bytes (map) : NULL;
}

GBytes *
file_read (const char *path, guint64 max_bytes, GError **error)
{
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  GBytes *bytes;

  if (fd < 0)
    {
      fail_with_errno (path, errno, error);
      return NULL;
    }
  bytes = read_or_map (path, fd, max_bytes, error);
  close (fd);
  return bytes;
}

Entries *
entries_open (const char *path, GError **error)
{
  g_autoptr (Entries) entries = g_new0 (Entries, 1);
  g_autofree char *base = g_path_get_basename (path);

  entries->path = g_strdup (path);
  if (g_file_test (path, G_FILE_TEST_IS_DIR))
    entries->folder = g_strdup (path);
  else if (strcmp (base, "adjoint.json") == 0)
    entries->folder = g_path_get_dirname (path);
  else
    {
      g_autoptr (GBytes) bytes = file_read (path, G_MAXINT64, error);

      if (bytes == NULL)
        return NULL;
      entries->archive = zip_open (bytes, path, error);
      if (entries->archive == NULL)
        return NULL;
    }
  return g_steal_pointer (&entries);
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

/* Who packs a folder, and not what is in it, has every entry one level too deep. */
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

/* Links are not followed: a folder that somebody sent cannot make us read another place. */
static GBytes *
read_in_folder (const Entries *entries, const char *name, guint64 max_bytes, GError **error)
{
  g_autofree char *path = g_build_filename (entries->folder, name, NULL);
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  GBytes *bytes;

  if (fd < 0 && errno == ENOENT)
    return fail_missing (entries, name, error);
  if (fd < 0)
    {
      fail_with_errno (path, errno, error);
      return NULL;
    }
  bytes = read_or_map (path, fd, max_bytes, error);
  close (fd);
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

typedef struct
{
  const char *path;
  int fd;
} Output;

static gboolean
write_piece (const guint8 *bytes, gsize length, gpointer data, GError **error)
{
  const Output *output = data;

  while (length > 0)
    {
      gssize n = write (output->fd, bytes, length);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return fail_with_errno (output->path, errno, error);
      bytes += n;
      length -= n;
    }
  return TRUE;
}

static gboolean
write_chunks (Output *output, ChunkFunc next, gpointer data, SaveMeter *meter, GError **error)
{
  GBytes *chunk;
  gboolean good = TRUE;

  while (good && (chunk = next (data)) != NULL)
    {
      good = save_meter_pass (meter, chunk, write_piece, output, error);
      g_bytes_unref (chunk);
    }
  return good;
}

/* The rights that a new file gets, or those that the old one has. */
static void
copy_mode (int fd, const char *path)
{
  struct stat facts;
  mode_t mask = umask (0);

  umask (mask);
  fchmod (fd, stat (path, &facts) == 0 ? facts.st_mode & 07777 : 0666 & ~mask);
}

gboolean
file_replace_by (const char *path, ChunkFunc next, gpointer data, SaveMeter *meter, GError **error)
{
  g_autofree char *partial = g_strconcat (path, ".XXXXXX", NULL);
  Output output = { path, g_mkstemp_full (partial, O_RDWR | O_CLOEXEC, 0600) };
  gboolean good;

  if (output.fd < 0)
    return fail_with_errno (path, errno, error);
  good = write_chunks (&output, next, data, meter, error);
  if (good && fsync (output.fd) != 0)
    good = fail_with_errno (path, errno, error);
  if (good)
    copy_mode (output.fd, path);
  if (close (output.fd) != 0 && good)
    good = fail_with_errno (path, errno, error);
  /* Syncing may take long. */
  good = good && !g_cancellable_set_error_if_cancelled (meter->cancellable, error);
  if (good && g_rename (partial, path) != 0)
    good = fail_with_errno (path, errno, error);
  if (!good)
    g_unlink (partial);
  return good;
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
  return g_mkdir_with_parents (path, 0777) == 0 || fail_with_errno (path, errno, error);
}

static gboolean
write_in_folder (const char *folder, const ZipItem *item, SaveMeter *meter, GError **error)
{
  g_autofree char *path = g_build_filename (folder, item->name, NULL);
  g_autofree char *parent = g_path_get_dirname (path);
  g_autoptr (GPtrArray) chunks = g_ptr_array_new ();

  g_ptr_array_add (chunks, item->bytes);
  return make_folder (parent, error) && file_replace (path, chunks, meter, error);
}

/* Removes files of @folder/@part that have a name as we give them and are not among @items. */
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

static gboolean
write_folder (const char *folder, const ZipItem *items, guint n, SaveMeter *meter, GError **error)
{
  g_autofree char *manifest = g_build_filename (folder, items[0].name, NULL);
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  gboolean is_ours = g_file_test (manifest, G_FILE_TEST_IS_REGULAR);

  for (guint i = n; i-- > 0;)
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
  return TRUE;
}

static gboolean
is_folder (const char *path)
{
  return g_file_test (path, G_FILE_TEST_IS_DIR) || g_str_has_suffix (path, G_DIR_SEPARATOR_S);
}

guint
entries_count_passes (const char *path)
{
  return is_folder (path) ? 1 : 2;
}

gboolean
entries_write (const char *path, const ZipItem *items, guint n, SaveMeter *meter, GError **error)
{
  g_autoptr (GPtrArray) chunks = NULL;

  if (is_folder (path))
    return write_folder (path, items, n, meter, error);
  chunks = zip_write (items, n, meter, error);
  if (chunks == NULL)
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  return file_replace (path, chunks, meter, error);
}
