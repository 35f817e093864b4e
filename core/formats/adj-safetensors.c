/* SPDX-License-Identifier: MIT */
/* Reads safetensors files: the header is checked in full before any element is given out. */

#include "formats/adj-safetensors.h"

#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/adj-error-internal.h"
#include "base/adj-file-internal.h"
#include "formats/entries-private.h"
#include "formats/json-private.h"
#include "formats/safetensors-private.h"
#include "tensor/adj-dtype-internal.h"

#define MAX_DIMS 64
#define MAX_NUMBER (G_GINT64_CONSTANT (1) << 53)

typedef struct
{
  const char *name;
  guint64 begin, end;  /* in the buffer */
  AdjTensorData *data; /* (owned) (nullable) */
  const char *unread;  /* the reason why @data is missing */
} Entry;

struct _AdjSafetensors
{
  AdjArena *arena; /* names */
  GArray *entries;
  GHashTable *by_name; /* name → index */
};

typedef struct
{
  AdjSafetensors *file;
  JsonReader json;
  const char *name; /* begins messages */
  GBytes *bytes;    /* the file, or its header */
  LateEntry *late;  /* (nullable): what the tensors are read from when @bytes is the header alone */
  guint64 start, size; /* the buffer in the file */
} Reader;

gboolean
adj_safetensors_is (const char *path)
{
  guint8 head[9];
  guint64 length;
  GStatBuf status;
  gboolean whole;
  FILE *file;

  if (g_str_has_suffix (path, ".safetensors"))
    return TRUE;
  if (g_stat (path, &status) != 0 || !S_ISREG (status.st_mode) ||
      status.st_size < (goffset) sizeof head || (file = g_fopen (path, "rbe")) == NULL)
    return FALSE;
  whole = fread (head, sizeof head, 1, file) == 1;
  fclose (file);
  memcpy (&length, head, sizeof length);
  return whole && head[8] == '{' && GUINT64_FROM_LE (length) <= (guint64) status.st_size - 8;
}

/* Element types of the format, some of which we only check and pass over. */
static guint
get_bits (const char *dtype)
{
  static const struct
  {
    const char *name;
    guint bits;
  } odd[] = { { "F4", 4 }, { "F6_E2M3", 6 }, { "F6_E3M2", 6 } };
  AdjDType known = adj_dtype_from_safetensors (dtype);

  for (guint i = 0; i < G_N_ELEMENTS (odd); i++)
    if (strcmp (odd[i].name, dtype) == 0)
      return odd[i].bits;
  return known == ADJ_DTYPE_NONE ? 0 : adj_dtype_info (known)->n_bytes * 8;
}

static gboolean
read_offsets (Reader *reader, const JsonItem *item, Entry *entry, GError **error)
{
  const JsonItem *offsets = json_get (item, "data_offsets");

  if (offsets == NULL || offsets->kind != JSON_ARRAY || offsets->n != 2 ||
      offsets->items[0].kind != JSON_INT || offsets->items[1].kind != JSON_INT ||
      offsets->items[0].integer < 0 || offsets->items[1].integer > MAX_NUMBER ||
      offsets->items[0].integer > offsets->items[1].integer)
    {
      json_fail (&reader->json, offsets != NULL ? offsets : item, error,
                 "tensor '%s': data_offsets must be two rising whole numbers", entry->name);
      return FALSE;
    }
  entry->begin = offsets->items[0].integer;
  entry->end = offsets->items[1].integer;
  return TRUE;
}

static gboolean
read_shape (Reader *reader, const JsonItem *item, const char *name, gint64 *sizes, GError **error)
{
  const JsonItem *shape = json_get (item, "shape");
  gboolean good = shape != NULL && shape->kind == JSON_ARRAY && shape->n <= MAX_DIMS;

  for (guint i = 0; good && i < shape->n; i++)
    {
      good = shape->items[i].kind == JSON_INT && shape->items[i].integer >= 0 &&
             shape->items[i].integer <= MAX_NUMBER;
      sizes[i] = shape->items[i].integer;
    }
  if (!good)
    json_fail (&reader->json, shape != NULL ? shape : item, error,
               "tensor '%s': the shape must be at most %d whole numbers from 0 to 2^53", name,
               MAX_DIMS);
  return good;
}

static gboolean
check_size (
    Reader *reader, const JsonItem *item, const Entry *entry, const gint64 *sizes, GError **error)
{
  const JsonItem *shape = json_get (item, "shape");
  const char *dtype = json_get_text (item, "dtype");
  guint bits = dtype != NULL ? get_bits (dtype) : 0;
  guint64 total = bits;

  if (bits == 0)
    {
      json_fail (&reader->json, item, error, "tensor '%s': %s '%s'", entry->name,
                 dtype != NULL ? "unknown dtype" : "there is no", dtype != NULL ? dtype : "dtype");
      return FALSE;
    }
  for (guint i = 0; i < shape->n; i++)
    if (!g_uint64_checked_mul (&total, total, (guint64) sizes[i]))
      {
        json_fail (&reader->json, shape, error, "tensor '%s': too many elements", entry->name);
        return FALSE;
      }
  if (total % 8 != 0)
    {
      json_fail (&reader->json, shape, error,
                 "tensor '%s': its %" G_GUINT64_FORMAT " bits are no whole bytes", entry->name,
                 total);
      return FALSE;
    }
  if (total / 8 != entry->end - entry->begin)
    {
      json_fail (&reader->json, shape, error,
                 "tensor '%s': dtype and shape need %" G_GUINT64_FORMAT
                 " bytes, but data_offsets enclose %" G_GUINT64_FORMAT,
                 entry->name, total / 8, entry->end - entry->begin);
      return FALSE;
    }
  return TRUE;
}

static guint8 *
allocate (gsize n, GError **error)
{
  guint8 *block = g_try_malloc (n);

  if (block == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY, "no memory for its %" G_GSIZE_FORMAT " bytes",
                 n);
  return block;
}

/* Kernels require booleans to be 0 or 1: every other byte becomes 1.  Takes @bytes. */
static GBytes *
normalise_booleans (GBytes *bytes, GError **error)
{
  gsize n, at = 0;
  const guint8 *in = g_bytes_get_data (bytes, &n);
  guint8 *out;

  while (at < n && in[at] <= 1)
    at++;
  if (at == n)
    return bytes;
  out = allocate (n, error);
  for (gsize k = 0; out != NULL && k < n; k++)
    out[k] = in[k] != 0;
  g_bytes_unref (bytes);
  return out != NULL ? g_bytes_new_take (out, n) : NULL;
}

/* The content of one tensor: a block of its own, so that two tensors do not look like aliases;
 * copied only where it is not aligned. */
static GBytes *
slice (const Reader *reader, const Entry *entry, AdjDType dtype, GError **error)
{
  gsize n = entry->end - entry->begin;
  g_autoptr (GBytes) bytes =
      g_bytes_new_from_bytes (reader->bytes, reader->start + entry->begin, n);
  gconstpointer data = g_bytes_get_data (bytes, NULL);
  guint8 *copy;

  if (n == 0 || (guintptr) data % adj_dtype_info (dtype)->n_bytes == 0)
    return g_steal_pointer (&bytes);
  copy = allocate (n, error);
  return copy != NULL ? g_bytes_new_take (memcpy (copy, data, n), n) : NULL;
}

static AdjTensorData *
read_late (const Reader *reader, const Entry *entry, const AdjTensorMeta *meta, GError **error)
{
  g_autoptr (AdjLateBytes) bytes =
      late_entry_get_bytes (reader->late, reader->start + entry->begin, entry->end - entry->begin,
                            meta->dtype == ADJ_DTYPE_BOOL);

  return adj_tensor_data_new_late (meta, bytes, error);
}

/* Sets the entry's data, or names the tensor in @error.  Takes @data (nullable). */
static gboolean
name_data (const Reader *reader, Entry *entry, AdjTensorData *data, GError **error)
{
  entry->data = data;
  if (data == NULL)
    g_prefix_error (error, "%s: tensor '%s': ", reader->name, entry->name);
  return data != NULL;
}

static gboolean
read_data (Reader *reader, const JsonItem *item, Entry *entry, const gint64 *sizes, GError **error)
{
  AdjTensorMeta meta = { .dtype = adj_dtype_from_safetensors (json_get_text (item, "dtype")),
                         .device = ADJ_CPU,
                         .has_strides = TRUE,
                         .storage = -1 };
  guint rank = json_get (item, "shape")->n;
  g_autoptr (GBytes) bytes = NULL;

  if (meta.dtype == ADJ_DTYPE_NONE || adj_dtype_info (meta.dtype)->n_bytes == 0)
    entry->unread = "has elements smaller than a byte";
  else if (rank > ADJ_MAX_RANK)
    entry->unread = "has more than " G_STRINGIFY (ADJ_MAX_RANK) " dimensions";
  if (entry->unread != NULL)
    return TRUE;
  adj_shape_init_ints (&meta.shape, rank, sizes);
  if (reader->late != NULL)
    return name_data (reader, entry, read_late (reader, entry, &meta, error), error);
  bytes = slice (reader, entry, meta.dtype, error);
  if (bytes != NULL && meta.dtype == ADJ_DTYPE_BOOL)
    bytes = normalise_booleans (g_steal_pointer (&bytes), error);
  return name_data (reader, entry, bytes != NULL ? adj_tensor_data_new (&meta, bytes, error) : NULL,
                    error);
}

static gboolean
read_metadata (Reader *reader, const JsonItem *item, GError **error)
{
  gboolean good = item->kind == JSON_OBJECT;

  for (guint i = 0; good && i < item->n; i++)
    good = item->items[i].kind == JSON_STRING;
  if (!good)
    json_fail (&reader->json, item, error, "__metadata__ must map strings to strings");
  return good;
}

/* Checks the entry against itself; its place among the others is checked at the end. */
static gboolean
read_entry (Reader *reader, const char *key, GError **error)
{
  g_autoptr (AdjArena) scratch = adj_arena_new ();
  const JsonItem *item = json_read (&reader->json, scratch, error);
  AdjSafetensors *file = reader->file;
  gint64 sizes[MAX_DIMS];
  Entry entry = { .name = key };

  if (item == NULL)
    return FALSE;
  if (g_hash_table_contains (file->by_name, key))
    {
      json_fail (&reader->json, item, error, "the key \"%s\" stands twice", key);
      return FALSE;
    }
  g_hash_table_insert (file->by_name, (gpointer) key, GUINT_TO_POINTER (file->entries->len));
  if (strcmp (key, "__metadata__") == 0)
    return read_metadata (reader, item, error);
  if (item->kind != JSON_OBJECT)
    {
      json_fail (&reader->json, item, error, "tensor '%s' must be an object", key);
      return FALSE;
    }
  if (!read_offsets (reader, item, &entry, error) ||
      !read_shape (reader, item, key, sizes, error) ||
      !check_size (reader, item, &entry, sizes, error))
    return FALSE;
  if (entry.end > reader->size)
    {
      json_fail (&reader->json, item, error,
                 "tensor '%s' reaches beyond the file: to %" G_GUINT64_FORMAT
                 " of %" G_GUINT64_FORMAT " bytes of data",
                 key, entry.end, reader->size);
      return FALSE;
    }
  if (!read_data (reader, item, &entry, sizes, error))
    return FALSE;
  g_array_append_val (file->entries, entry);
  return TRUE;
}

static gint
compare_places (gconstpointer a, gconstpointer b)
{
  const Entry *first = *(const Entry *const *) a, *second = *(const Entry *const *) b;

  if (first->begin != second->begin)
    return first->begin < second->begin ? -1 : 1;
  return (first->end > second->end) - (first->end < second->end);
}

/* Fails for a tensor that does not begin at @at, where the one @before it (%NULL: it is the first)
 * ends. */
static gboolean
fail_place (
    const Reader *reader, const Entry *before, const Entry *entry, guint64 at, GError **error)
{
  if (before == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: tensor '%s' begins at %" G_GUINT64_FORMAT " of the data, but is the first",
                 reader->name, entry->name, entry->begin);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: tensor '%s' begins at %" G_GUINT64_FORMAT
                 " of the data, but tensor '%s' before it ends at %" G_GUINT64_FORMAT,
                 reader->name, entry->name, entry->begin, before->name, at);
  return FALSE;
}

/* The tensors must cover the buffer: no hole, no overlap, nothing behind the last. */
static gboolean
check_cover (const Reader *reader, GError **error)
{
  const AdjSafetensors *file = reader->file;
  g_autofree const Entry **order = g_new (const Entry *, file->entries->len + 1);
  const Entry *last = NULL;
  guint64 at = 0;

  for (guint i = 0; i < file->entries->len; i++)
    order[i] = &g_array_index (file->entries, Entry, i);
  qsort (order, file->entries->len, sizeof *order, compare_places);
  for (guint i = 0; i < file->entries->len; i++)
    {
      if (order[i]->begin != at)
        return fail_place (reader, last, order[i], at, error);
      last = order[i];
      at = last->end;
    }
  if (at == reader->size)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
               "%s: %" G_GUINT64_FORMAT " bytes that belong to no tensor, behind %s%s%s",
               reader->name, reader->size - at, last != NULL ? "tensor '" : "the header",
               last != NULL ? last->name : "", last != NULL ? "'" : "");
  return FALSE;
}

static gboolean
read_header (Reader *reader, const char *text, gsize length, GError **error)
{
  if (!json_reader_init (&reader->json, reader->name, text, length, error))
    return FALSE;
  if (length == 0 || text[0] != '{')
    {
      json_fail (&reader->json, NULL, error, "the header must begin with '{'");
      return FALSE;
    }
  if (!json_enter (&reader->json, '{', error))
    return FALSE;
  while (TRUE)
    {
      const char *key;
      gboolean more;

      if (!json_next (&reader->json, reader->file->arena, &key, &more, error))
        return FALSE;
      if (!more)
        break;
      if (!read_entry (reader, key, error))
        return FALSE;
    }
  while (reader->json.at < reader->json.end && *reader->json.at == ' ')
    reader->json.at++;
  if (reader->json.at == reader->json.end)
    return check_cover (reader, error);
  json_fail (&reader->json, NULL, error, "only blanks may follow the header");
  return FALSE;
}

/* The first 8 bytes say how long the header is. */
static gboolean
read_length (const Reader *reader, guint64 size, guint64 *n, GError **error)
{
  const guint8 *data = g_bytes_get_data (reader->bytes, NULL);

  *n = 0;
  for (guint i = 0; i < 8 && size >= 8; i++)
    *n |= (guint64) data[i] << (8 * i);
  if (size < 8)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: not a safetensors file: %" G_GUINT64_FORMAT
                 " bytes, and 8 say how long its header is",
                 reader->name, size);
  else if (*n > ADJ_SAFETENSORS_MAX_HEADER)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                 "%s: not a safetensors file: a header of %" G_GUINT64_FORMAT
                 " bytes, more than %d",
                 reader->name, *n, ADJ_SAFETENSORS_MAX_HEADER);
  else if (*n > size - 8)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                 "%s: not a whole safetensors file: a header of %" G_GUINT64_FORMAT
                 " bytes in a file of %" G_GUINT64_FORMAT,
                 reader->name, *n, size);
  else
    return TRUE;
  return FALSE;
}

/* Reads the first @n bytes of @part into @reader; a file in memory (no @part) is there already. */
static gboolean
see (Reader *reader, const AdjFilePart *part, gsize n, GError **error)
{
  if (part == NULL)
    return TRUE;
  g_clear_pointer (&reader->bytes, g_bytes_unref);
  reader->bytes = adj_file_part_read (part, 0, n, error);
  if (reader->bytes == NULL)
    g_prefix_error (error, "%s: ", reader->name);
  return reader->bytes != NULL;
}

/* @part: (nullable): the file, unless @reader has its bytes; @size: of the file */
static AdjSafetensors *
read_file (Reader *reader, const AdjFilePart *part, guint64 size, GError **error)
{
  g_autoptr (AdjSafetensors) file = reader->file = g_new0 (AdjSafetensors, 1);
  GError *reason = NULL;
  guint64 n;

  file->arena = adj_arena_new ();
  file->entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  file->by_name = g_hash_table_new (g_str_hash, g_str_equal);
  if (see (reader, part, MIN (size, 8), &reason) && read_length (reader, size, &n, &reason) &&
      see (reader, part, 8 + n, &reason))
    {
      reader->start = 8 + n;
      reader->size = size - reader->start;
      if (read_header (reader, (const char *) g_bytes_get_data (reader->bytes, NULL) + 8, n,
                       &reason))
        return g_steal_pointer (&file);
    }
  adj_message_make_line (reason->message);
  g_propagate_error (error, reason);
  return NULL;
}

AdjSafetensors *
adj_safetensors_read (GBytes *bytes, const char *name, GError **error)
{
  Reader reader = { .name = name != NULL ? name : "safetensors", .bytes = bytes };

  return read_file (&reader, NULL, g_bytes_get_size (bytes), error);
}

AdjSafetensors *
safetensors_read_late (AdjFilePart *part, LateEntry *entry, const char *name, GError **error)
{
  Reader reader = { .name = name, .late = entry };
  AdjSafetensors *file = read_file (&reader, part, adj_file_part_get_size (part), error);

  g_clear_pointer (&reader.bytes, g_bytes_unref);
  return file;
}

AdjSafetensors *
adj_safetensors_load (const char *path, GError **error)
{
  g_autoptr (GBytes) bytes = adj_file_read (path, ADJ_FILE_WHOLE, G_MAXINT64, NULL, error);

  return bytes != NULL ? adj_safetensors_read (bytes, path, error) : NULL;
}

void
adj_safetensors_free (AdjSafetensors *file)
{
  if (file == NULL)
    return;
  for (guint i = 0; i < file->entries->len; i++)
    g_clear_pointer (&g_array_index (file->entries, Entry, i).data, adj_tensor_data_unref);
  g_hash_table_unref (file->by_name);
  g_array_unref (file->entries);
  adj_arena_free (file->arena);
  g_free (file);
}

guint
adj_safetensors_get_n (const AdjSafetensors *file)
{
  return file->entries->len;
}

const char *
adj_safetensors_get_name (const AdjSafetensors *file, guint index)
{
  g_return_val_if_fail (index < file->entries->len, NULL);

  return g_array_index (file->entries, Entry, index).name;
}

AdjTensorData *
adj_safetensors_get (const AdjSafetensors *file, guint index)
{
  g_return_val_if_fail (index < file->entries->len, NULL);

  return g_array_index (file->entries, Entry, index).data;
}

AdjTensorData *
adj_safetensors_find (const AdjSafetensors *file, const char *name, GError **error)
{
  const Entry *entry;
  gpointer index;

  if (strcmp (name, "__metadata__") == 0 ||
      !g_hash_table_lookup_extended (file->by_name, name, NULL, &index))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no tensor '%s'", name);
      return NULL;
    }
  entry = &g_array_index (file->entries, Entry, GPOINTER_TO_UINT (index));
  if (entry->data == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "tensor '%s' %s", name, entry->unread);
  return entry->data;
}
