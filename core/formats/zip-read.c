/* SPDX-License-Identifier: MIT */
/* Reads zip archives, ZIP64 included: names and sizes are checked before anything is unpacked. */

#include <gio/gio.h>
#include <string.h>

#include "base/adj-arena.h"
#include "formats/zip-private.h"

#define LOCAL_MAGIC 0x04034b50
#define CENTRAL_MAGIC 0x02014b50
#define END_MAGIC 0x06054b50
#define END64_MAGIC 0x06064b50
#define LOCATOR64_MAGIC 0x07064b50

#define LOCAL_SIZE 30
#define CENTRAL_SIZE 46
#define END_SIZE 22
#define END64_SIZE 56
#define LOCATOR64_SIZE 20

#define FLAG_ENCRYPTED 0x0001
#define FLAG_STRONG_ENCRYPTION 0x0040
#define METHOD_STORED 0
#define METHOD_DEFLATED 8

#define SHOWN_NAME 60 /* bytes of a name that is refused */

typedef struct
{
  const char *name;
  guint method;
  guint32 crc;
  guint64 packed, size; /* bytes in the file, bytes of content */
  guint64 header;       /* offset of the local header */
  guint64 data;         /* offset of the content */
} Entry;

struct _ZipArchive
{
  AdjFilePart *part;
  GBytes *window; /* (owned): the part of the file that is in memory, up to its end */
  const guint8 *seen;
  guint64 seen_from; /* where in the file that begins */
  guint64 length;
  char *name;
  AdjArena *arena; /* names of entries */
  GArray *entries;
  GHashTable *by_name; /* name → index */
};

typedef struct
{
  guint64 n_entries, size, offset; /* the central directory */
  guint64 end;                     /* where the end records begin */
} Directory;

static guint
get16 (const guint8 *at)
{
  return at[0] | (guint) at[1] << 8;
}

static guint32
get32 (const guint8 *at)
{
  return get16 (at) | (guint32) get16 (at + 2) << 16;
}

static guint64
get64 (const guint8 *at)
{
  return get32 (at) | (guint64) get32 (at + 4) << 32;
}

static gboolean G_GNUC_PRINTF (3, 4)
    fail (const ZipArchive *archive, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", archive->name, message);
  return FALSE;
}

/* Makes all bytes from @from on visible to look_at (). */
static gboolean
see_from (ZipArchive *archive, guint64 from, GError **error)
{
  GBytes *bytes;

  if (archive->window != NULL && from >= archive->seen_from)
    return TRUE;
  bytes = adj_file_part_peek (archive->part);
  if (bytes != NULL)
    from = 0;
  bytes = bytes != NULL ? g_bytes_ref (bytes)
                        : adj_file_part_read (archive->part, from, archive->length - from, error);
  if (bytes == NULL)
    {
      g_prefix_error (error, "%s: ", archive->name);
      return FALSE;
    }
  g_clear_pointer (&archive->window, g_bytes_unref);
  archive->window = bytes;
  archive->seen = g_bytes_get_data (bytes, NULL);
  archive->seen_from = from;
  return TRUE;
}

static const guint8 *
look_at (const ZipArchive *archive, guint64 at)
{
  return archive->seen + (at - archive->seen_from);
}

/* The end record is the last thing in the file but for its own comment. */
static gboolean
find_end (const ZipArchive *archive, guint64 *out)
{
  guint64 lowest =
      archive->length > END_SIZE + G_MAXUINT16 ? archive->length - END_SIZE - G_MAXUINT16 : 0;

  if (archive->length < END_SIZE)
    return FALSE;
  for (guint64 at = archive->length - END_SIZE + 1; at-- > lowest;)
    if (get32 (look_at (archive, at)) == END_MAGIC &&
        at + END_SIZE + get16 (look_at (archive, at + 20)) == archive->length)
      {
        *out = at;
        return TRUE;
      }
  return FALSE;
}

/* The 64-bit form of the end record, which stands before it when a number did not fit. */
static gboolean
read_end64 (ZipArchive *archive, guint64 end, Directory *out, GError **error)
{
  const guint8 *locator, *record;
  guint64 at;

  if (end < LOCATOR64_SIZE || get32 (look_at (archive, end - LOCATOR64_SIZE)) != LOCATOR64_MAGIC)
    return TRUE;
  locator = look_at (archive, end - LOCATOR64_SIZE);
  at = get64 (locator + 8);
  if (get32 (locator + 4) != 0 || get32 (locator + 16) > 1)
    return fail (archive, error, "split over several disks");
  if (end - LOCATOR64_SIZE < END64_SIZE || at > end - LOCATOR64_SIZE - END64_SIZE)
    return fail (archive, error, "no ZIP64 end record where it should be");
  if (!see_from (archive, at, error))
    return FALSE;
  record = look_at (archive, at);
  if (get32 (record) != END64_MAGIC)
    return fail (archive, error, "no ZIP64 end record where it should be");
  if (get32 (record + 16) != 0 || get32 (record + 20) != 0)
    return fail (archive, error, "split over several disks");
  *out = (Directory){ .n_entries = get64 (record + 32),
                      .size = get64 (record + 40),
                      .offset = get64 (record + 48),
                      .end = at };
  return TRUE;
}

static gboolean
read_end (ZipArchive *archive, Directory *out, GError **error)
{
  guint64 tail = END_SIZE + G_MAXUINT16 + LOCATOR64_SIZE + END64_SIZE;
  guint64 end;
  const guint8 *record;

  if (!see_from (archive, archive->length > tail ? archive->length - tail : 0, error))
    return FALSE;
  if (!find_end (archive, &end))
    return fail (archive, error, "not a whole ZIP archive (no end record at the end of the file)");
  record = look_at (archive, end);
  if (get16 (record + 4) != get16 (record + 6) || get16 (record + 8) != get16 (record + 10))
    return fail (archive, error, "split over several disks");
  *out = (Directory){ .n_entries = get16 (record + 10),
                      .size = get32 (record + 12),
                      .offset = get32 (record + 16),
                      .end = end };
  if (!read_end64 (archive, end, out, error))
    return FALSE;
  if (out->n_entries > ZIP_MAX_ENTRIES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "%s: %" G_GUINT64_FORMAT " entries, more than %d", archive->name, out->n_entries,
                   ZIP_MAX_ENTRIES);
      return FALSE;
    }
  if (out->size > out->end || out->offset > out->end - out->size ||
      out->n_entries > out->size / CENTRAL_SIZE)
    return fail (archive, error, "the central directory does not fit into the file");
  return see_from (archive, out->offset, error);
}

/* (nullable): what is wrong with the name: it must be relative, with '/', without "." and "..", so
 * that it cannot leave the folder that it is unpacked into. */
static const char *
refuse_name (const char *name, gsize length)
{
  const char *end = name + length;

  if (length == 0)
    return "is empty";
  if (memchr (name, '\0', length) != NULL || !g_utf8_validate_len (name, length, NULL))
    return "is no UTF-8 text";
  if (memchr (name, '\\', length) != NULL)
    return "has a backslash";
  if (name[0] == '/' || (length >= 2 && name[1] == ':' && g_ascii_isalpha (name[0])))
    return "is absolute";
  for (const char *part = name; part < end;)
    {
      const char *slash = memchr (part, '/', end - part);
      const char *stop = slash != NULL ? slash : end;

      if (stop == part)
        return "has an empty part";
      if ((stop - part == 1 && part[0] == '.') ||
          (stop - part == 2 && part[0] == '.' && part[1] == '.'))
        return "has a part '.' or '..'";
      part = stop + 1;
    }
  return NULL;
}

static gboolean
check_name (const ZipArchive *archive, const char *name, gsize length, GError **error)
{
  const char *reason = refuse_name (name, length);
  g_autofree char *start = NULL, *shown = NULL;

  if (reason == NULL)
    return TRUE;
  start = g_strndup (name, MIN (length, SHOWN_NAME));
  shown = g_strescape (start, NULL);
  return fail (archive, error, "entry %u, '%s': the name %s", archive->entries->len, shown, reason);
}

/* Sizes and offset that did not fit stand in the ZIP64 extra field, in this order. */
static gboolean
read_extra64 (const guint8 *extra, gsize length, Entry *entry)
{
  guint64 *fields[] = { &entry->size, &entry->packed, &entry->header };
  gboolean wanted = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
    wanted = wanted || *fields[i] == G_MAXUINT32;
  while (wanted && length >= 4)
    {
      gsize size = get16 (extra + 2);
      const guint8 *at = extra + 4;

      if (size > length - 4)
        return FALSE;
      if (get16 (extra) == 1)
        {
          for (guint i = 0; i < G_N_ELEMENTS (fields); i++)
            if (*fields[i] == G_MAXUINT32)
              {
                if (at + 8 > extra + 4 + size)
                  return FALSE;
                *fields[i] = get64 (at);
                at += 8;
              }
          return TRUE;
        }
      extra += 4 + size;
      length -= 4 + size;
    }
  return !wanted;
}

/* The local header says where the content begins: its extra field may be of another length. */
static gboolean
locate (const ZipArchive *archive, const Directory *directory, Entry *entry, GError **error)
{
  guint64 limit = directory->offset;
  guint8 local[LOCAL_SIZE] = { 0 };

  if (limit >= LOCAL_SIZE && entry->header <= limit - LOCAL_SIZE &&
      !adj_file_part_copy (archive->part, entry->header, LOCAL_SIZE, local, error))
    {
      g_prefix_error (error, "%s: ", archive->name);
      return FALSE;
    }
  if (get32 (local) != LOCAL_MAGIC)
    return fail (archive, error, "%s: no entry where the directory says", entry->name);
  entry->data = entry->header + LOCAL_SIZE + get16 (local + 26) + get16 (local + 28);
  if (entry->data > limit || entry->packed > limit - entry->data)
    return fail (archive, error, "%s: reaches beyond the file", entry->name);
  return TRUE;
}

static gboolean
check_entry (const ZipArchive *archive, guint flags, guint disk, const Entry *entry, GError **error)
{
  if (flags & (FLAG_ENCRYPTED | FLAG_STRONG_ENCRYPTION))
    return fail (archive, error, "%s: encrypted", entry->name);
  if (disk != 0)
    return fail (archive, error, "%s: on another disk", entry->name);
  if (entry->method != METHOD_STORED && entry->method != METHOD_DEFLATED)
    return fail (archive, error, "%s: unknown compression %u", entry->name, entry->method);
  if (entry->method == METHOD_STORED && entry->packed != entry->size)
    return fail (archive, error, "%s: stored, but of two sizes", entry->name);
  return TRUE;
}

static gboolean
fail_record (const ZipArchive *archive, guint64 at, GError **error)
{
  return fail (archive, error,
               "the central directory is damaged at entry %u, byte %" G_GUINT64_FORMAT,
               archive->entries->len, at);
}

/* One record of the central directory; moves @at behind it. */
static gboolean
read_entry (ZipArchive *archive, const Directory *directory, guint64 *at, GError **error)
{
  guint64 end = directory->offset + directory->size;
  const guint8 *record = look_at (archive, *at);
  gsize name_length, extra_length, comment_length;
  Entry entry;

  if (end - *at < CENTRAL_SIZE || get32 (record) != CENTRAL_MAGIC)
    return fail_record (archive, *at, error);
  name_length = get16 (record + 28);
  extra_length = get16 (record + 30);
  comment_length = get16 (record + 32);
  if (end - *at - CENTRAL_SIZE < name_length + extra_length + comment_length)
    return fail_record (archive, *at, error);
  if (!check_name (archive, (const char *) record + CENTRAL_SIZE, name_length, error))
    return FALSE;

  entry = (Entry){ .name = adj_arena_strndup (archive->arena, (const char *) record + CENTRAL_SIZE,
                                              name_length),
                   .method = get16 (record + 10),
                   .crc = get32 (record + 16),
                   .packed = get32 (record + 20),
                   .size = get32 (record + 24),
                   .header = get32 (record + 42) };
  if (!read_extra64 (record + CENTRAL_SIZE + name_length, extra_length, &entry))
    return fail (archive, error, "%s: damaged extra field", entry.name);
  if (!check_entry (archive, get16 (record + 8), get16 (record + 34), &entry, error) ||
      !locate (archive, directory, &entry, error))
    return FALSE;
  *at += CENTRAL_SIZE + name_length + extra_length + comment_length;
  if (!g_hash_table_insert (archive->by_name, (gpointer) entry.name,
                            GUINT_TO_POINTER (archive->entries->len)))
    return fail (archive, error, "%s: stands in the archive twice", entry.name);
  g_array_append_val (archive->entries, entry);
  return TRUE;
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Entry *first = *(const Entry *const *) a, *second = *(const Entry *const *) b;

  return (first->header > second->header) - (first->header < second->header);
}

static gboolean
check_overlaps (const ZipArchive *archive, GError **error)
{
  guint n = archive->entries->len;
  g_autofree const Entry **order = g_new (const Entry *, n);

  if (n == 0)
    return TRUE;
  for (guint i = 0; i < n; i++)
    order[i] = &g_array_index (archive->entries, Entry, i);
  qsort (order, n, sizeof *order, compare_places);
  for (guint i = 1; i < n; i++)
    if (order[i]->header < order[i - 1]->data + order[i - 1]->packed)
      return fail (archive, error, "%s and %s overlap", order[i - 1]->name, order[i]->name);
  return TRUE;
}

static gboolean
read_directory (ZipArchive *archive, GError **error)
{
  Directory directory = { 0 };
  guint64 at;

  if (!read_end (archive, &directory, error))
    return FALSE;
  at = directory.offset;
  for (guint64 i = 0; i < directory.n_entries; i++)
    if (!read_entry (archive, &directory, &at, error))
      return FALSE;
  if (at != directory.offset + directory.size)
    return fail (archive, error, "the central directory goes on behind its last entry");
  return check_overlaps (archive, error);
}

ZipArchive *
zip_open (AdjFilePart *part, const char *name, GError **error)
{
  g_autoptr (ZipArchive) archive = g_new0 (ZipArchive, 1);

  archive->part = adj_file_part_ref (part);
  archive->length = adj_file_part_get_size (part);
  archive->name = g_strdup (name);
  archive->arena = adj_arena_new ();
  archive->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  archive->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (!read_directory (archive, error))
    return NULL;
  if (adj_file_part_check_unchanged (part, error))
    return g_steal_pointer (&archive);
  g_prefix_error (error, "%s: ", name);
  return NULL;
}

void
zip_free (ZipArchive *archive)
{
  g_hash_table_unref (archive->by_name);
  g_array_unref (archive->entries);
  adj_arena_free (archive->arena);
  g_free (archive->name);
  g_clear_pointer (&archive->window, g_bytes_unref);
  adj_file_part_unref (archive->part);
  g_free (archive);
}

const char *
zip_get_path (const ZipArchive *archive)
{
  return archive->name;
}

guint
zip_get_n (const ZipArchive *archive)
{
  return archive->entries->len;
}

const char *
zip_get_name (const ZipArchive *archive, guint index)
{
  g_return_val_if_fail (index < archive->entries->len, NULL);

  return g_array_index (archive->entries, Entry, index).name;
}

gboolean
zip_find (const ZipArchive *archive, const char *name, guint *index)
{
  gpointer value;

  if (!g_hash_table_lookup_extended (archive->by_name, name, NULL, &value))
    return FALSE;
  *index = GPOINTER_TO_UINT (value);
  return TRUE;
}

/* Exactly entry->size bytes must come out, and all that goes in must be used. */
static GBytes *
inflate (const ZipArchive *archive, const Entry *entry, GBytes *packed, GError **error)
{
  const guint8 *in = g_bytes_get_data (packed, NULL);
  g_autoptr (GZlibDecompressor) zlib = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_RAW);
  g_autofree guint8 *out = NULL;
  guint64 n_in = 0, n_out = 0;
  GConverterResult result = G_CONVERTER_CONVERTED;
  guint8 overflow;

  if (entry->size / ZIP_MAX_RATIO > entry->packed || entry->size > ZIP_MAX_ENTRY_BYTES)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "%s: %s: %" G_GUINT64_FORMAT " bytes packed into %" G_GUINT64_FORMAT,
                   archive->name, entry->name, entry->size, entry->packed);
      return NULL;
    }
  out = g_try_malloc (entry->size + 1);
  if (out == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
                   "%s: %s: no memory for its %" G_GUINT64_FORMAT " bytes", archive->name,
                   entry->name, entry->size);
      return NULL;
    }
  while (result != G_CONVERTER_FINISHED)
    {
      gsize used, made;
      gboolean full = n_out == entry->size;

      result = g_converter_convert (G_CONVERTER (zlib), in + n_in, entry->packed - n_in,
                                    full ? &overflow : out + n_out, full ? 1 : entry->size - n_out,
                                    G_CONVERTER_INPUT_AT_END, &used, &made, NULL);
      if (result == G_CONVERTER_ERROR || (full && made > 0) ||
          (used == 0 && made == 0 && result != G_CONVERTER_FINISHED))
        {
          fail (archive, error, "%s: damaged compressed data", entry->name);
          return NULL;
        }
      n_in += used;
      n_out += made;
    }
  if (n_out != entry->size || n_in != entry->packed)
    {
      fail (archive, error, "%s: unpacks to another size than it says", entry->name);
      return NULL;
    }
  return g_bytes_new_take (g_steal_pointer (&out), n_out);
}

AdjFilePart *
zip_get_part (const ZipArchive *archive, guint index)
{
  const Entry *entry = &g_array_index (archive->entries, Entry, index);

  return entry->method == METHOD_STORED
             ? adj_file_part_new_within (archive->part, entry->data, entry->size)
             : NULL;
}

static gboolean
check_size (const ZipArchive *archive, const Entry *entry, guint64 max_bytes, GError **error)
{
  if (entry->size <= max_bytes)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
               "%s: %s: %" G_GUINT64_FORMAT " bytes, more than %" G_GUINT64_FORMAT, archive->name,
               entry->name, entry->size, max_bytes);
  return FALSE;
}

GBytes *
zip_read (ZipArchive *archive, guint index, guint64 max_bytes, AdjDiags *diags, GError **error)
{
  const Entry *entry = &g_array_index (archive->entries, Entry, index);
  g_autoptr (GBytes) packed = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const guint8 *data;
  gsize length;

  if (!check_size (archive, entry, max_bytes, error))
    return NULL;
  packed = adj_file_part_read (archive->part, entry->data, entry->packed, error);
  if (packed == NULL)
    {
      g_prefix_error (error, "%s: %s: ", archive->name, entry->name);
      return NULL;
    }
  bytes = entry->method == METHOD_STORED ? g_bytes_ref (packed)
                                         : inflate (archive, entry, packed, error);
  if (bytes == NULL)
    return NULL;
  data = g_bytes_get_data (bytes, &length);
  if (diags != NULL && length <= ZIP_MAX_CHECKED && entry->crc != zip_crc32 (0, data, length))
    adj_diags_add (diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "%s: the checksum does not match the content", entry->name);
  return g_steal_pointer (&bytes);
}
