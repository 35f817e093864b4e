/* SPDX-License-Identifier: MIT */
/* Streams that torch.save wrote before 1.6, and plain pickles, in which each storage is one. */

#include <string.h>

#include "formats/torch-save-private.h"
#include "formats/torch-stream-private.h"

#define N_PICKLES 5 /* number, protocol, machine, value, keys of the storages */
#define VALUE 3
#define KEYS 4

typedef struct
{
  const char *name; /* (unowned) */
  AdjArena *arena;
  GBytes *bytes; /* (unowned) */
  gsize at;
  const PickleItem *pickles[N_PICKLES];
  GHashTable *ids;      /* key → PickleItem: the id of a storage that the value refers to */
  GHashTable *storages; /* key → AdjLateBytes */
} Stream;

static void
clear_stream (Stream *stream)
{
  g_clear_pointer (&stream->arena, adj_arena_free);
  g_clear_pointer (&stream->ids, g_hash_table_unref);
  g_clear_pointer (&stream->storages, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, clear_stream)

static gboolean
fail (const Stream *stream, GError **error, const char *what)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: at byte %" G_GSIZE_FORMAT ": %s",
               stream->name, stream->at, what);
  return FALSE;
}

gboolean
torch_stream_is (const guint8 *data, gsize length)
{
  static const guint8 magic[] = { 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50 };

  return length >= 2 + sizeof magic && data[0] == 0x80 &&
         memcmp (data + 2, magic, sizeof magic) == 0;
}

/* The first id of a key counts: its type is that by which the storage was written. */
static void
note_ids (Stream *stream, const GPtrArray *ids)
{
  for (guint i = 0; i < ids->len; i++)
    {
      const PickleItem *id = ((const PickleItem *) ids->pdata[i])->items[0];

      if (id->kind == PICKLE_TUPLE && id->n > 2 && id->items[2]->kind == PICKLE_TEXT &&
          !g_hash_table_contains (stream->ids, id->items[2]->text))
        g_hash_table_insert (stream->ids, (gpointer) id->items[2]->text, (gpointer) id);
    }
}

static gboolean
read_pickles (Stream *stream, GError **error)
{
  gsize length;
  const guint8 *data = g_bytes_get_data (stream->bytes, &length);
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();

  for (guint i = 0; i < N_PICKLES; i++)
    {
      stream->pickles[i] =
          pickle_read_next (stream->arena, data, length, stream->name, &stream->at, ids, error);
      if (stream->pickles[i] == NULL)
        return FALSE;
    }
  note_ids (stream, ids);
  return stream->pickles[KEYS]->kind == PICKLE_LIST ||
         fail (stream, error, "expected the list of the storages");
}

/* The number of its elements, and these. */
static gboolean
read_storage (Stream *stream, const PickleItem *key, GError **error)
{
  gsize left = g_bytes_get_size (stream->bytes) - stream->at;
  const PickleItem *id =
      key->kind == PICKLE_TEXT ? g_hash_table_lookup (stream->ids, key->text) : NULL;
  AdjDType dtype = id != NULL ? storage_class_get_dtype (id->items[1]) : ADJ_DTYPE_NONE;
  g_autoptr (GBytes) bytes = NULL;
  guint64 n = 0, width;
  const guint8 *at;

  if (dtype == ADJ_DTYPE_NONE)
    return fail (stream, error, "a storage that nothing refers to, or of a type that is not known");
  if (left < sizeof n)
    return fail (stream, error, "the stream ends before its storages");
  at = (const guint8 *) g_bytes_get_data (stream->bytes, NULL) + stream->at;
  for (guint i = 0; i < sizeof n; i++)
    n |= (guint64) at[i] << 8 * i;
  width = adj_dtype_info (dtype)->n_bytes;
  if (n > (left - sizeof n) / width)
    return fail (stream, error, "the stream ends inside a storage");
  bytes = g_bytes_new (at + sizeof n, (gsize) (n * width));
  if (!g_hash_table_contains (stream->storages, key->text))
    g_hash_table_insert (stream->storages, (gpointer) key->text, adj_late_bytes_new_known (bytes));
  stream->at += sizeof n + (gsize) (n * width);
  return TRUE;
}

static gboolean
read_stream (Stream *stream, GBytes *bytes, const char *name, GError **error)
{
  const PickleItem *keys;

  stream->name = name;
  stream->bytes = bytes;
  stream->arena = adj_arena_new ();
  stream->ids = g_hash_table_new (g_str_hash, g_str_equal);
  stream->storages =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) adj_late_bytes_unref);
  if (!read_pickles (stream, error))
    return FALSE;
  keys = stream->pickles[KEYS];
  for (guint i = 0; i < keys->n; i++)
    if (!read_storage (stream, keys->items[i], error))
      return FALSE;
  return TRUE;
}

static AdjLateBytes *
find_storage (gpointer data, const char *key, guint64 n_bytes, GError **error)
{
  const Stream *stream = data;
  AdjLateBytes *bytes = g_hash_table_lookup (stream->storages, key);

  if (bytes != NULL && adj_late_bytes_get_size (bytes) == n_bytes)
    return bytes;
  fail (stream, error, "a storage that is not there, or of another size");
  return NULL;
}

gboolean
torch_stream_read (GBytes *bytes, const char *name, AdjDiags *diags, AdjValue *out, GError **error)
{
  gsize length;
  const guint8 *data = g_bytes_get_data (bytes, &length);
  g_auto (Stream) stream = { 0 };
  g_auto (SavedValues) values = { 0 };
  g_autoptr (AdjArena) arena = NULL;
  const PickleItem *item;

  saved_values_init (&values, name, diags);
  if (!torch_stream_is (data, length))
    {
      arena = adj_arena_new ();
      item = pickle_read (arena, data, length, name, error);
      return item != NULL && saved_values_read (&values, item, out, error);
    }
  if (!read_stream (&stream, bytes, name, error))
    return FALSE;
  values.find_storage = find_storage;
  values.data = &stream;
  return saved_values_read (&values, stream.pickles[VALUE], out, error);
}

/* (transfer full) (nullable): the one storage of a stream. */
static SavedElements *
read_one (const SavedValues *values, GBytes *bytes, GError **error)
{
  g_auto (Stream) stream = { 0 };
  const PickleItem *value, *id;
  AdjLateBytes *storage;
  SavedElements *elements;

  if (!read_stream (&stream, bytes, values->name, error))
    return NULL;
  value = stream.pickles[VALUE];
  id = value->kind == PICKLE_PERSISTENT ? value->items[0] : NULL;
  storage = id != NULL && id->kind == PICKLE_TUPLE && id->n > 2 && id->items[2]->kind == PICKLE_TEXT
                ? g_hash_table_lookup (stream.storages, id->items[2]->text)
                : NULL;
  if (storage == NULL)
    {
      saved_values_fail (values, error, "what stands for a storage holds something else");
      return NULL;
    }
  elements = g_new (SavedElements, 1);
  *elements = (SavedElements){ adj_late_bytes_read (storage, NULL),
                               storage_class_get_dtype (id->items[1]) };
  return elements;
}

const SavedElements *
torch_stream_read_storage (SavedValues *values, const PickleItem *item, GError **error)
{
  GBytes *bytes = item != NULL ? saved_values_get_bytes (values, item) : NULL;
  SavedElements *known = bytes != NULL ? g_hash_table_lookup (values->streams, bytes) : NULL;

  if (bytes == NULL || !torch_stream_is (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes)))
    {
      saved_values_fail (values, error, "a storage that torch.save did not write");
      return NULL;
    }
  if (known == NULL && (known = read_one (values, bytes, error)) != NULL)
    g_hash_table_insert (values->streams, bytes, known);
  return known;
}
