/* SPDX-License-Identifier: MIT */
/* Entries of large files: hashed and read at first use. */

#include "base/adj-error.h"
#include "formats/late-entry-private.h"

#define PIECE ((gsize) 4 << 20)

struct _LateEntry
{
  gatomicrefcount ref_count;
  AdjFilePart *part;
  char *name;
  char *sha256; /* (nullable) */
  GMutex lock;
  gboolean compared; /* the hash has been compared */
  GError *failure;   /* (owned) (nullable) */
};

typedef struct
{
  LateEntry *entry; /* (owned) */
  guint64 at;
  gsize n;
  gboolean booleans;
} Slice;

LateEntry *
late_entry_new (AdjFilePart *part, const char *name, const char *sha256)
{
  LateEntry *entry = g_new0 (LateEntry, 1);

  g_atomic_ref_count_init (&entry->ref_count);
  g_mutex_init (&entry->lock);
  entry->part = adj_file_part_ref (part);
  entry->name = g_strdup (name);
  entry->sha256 = g_strdup (sha256);
  return entry;
}

LateEntry *
late_entry_ref (LateEntry *entry)
{
  g_atomic_ref_count_inc (&entry->ref_count);
  return entry;
}

void
late_entry_unref (LateEntry *entry)
{
  if (!g_atomic_ref_count_dec (&entry->ref_count))
    return;
  adj_file_part_unref (entry->part);
  g_free (entry->name);
  g_free (entry->sha256);
  g_clear_error (&entry->failure);
  g_mutex_clear (&entry->lock);
  g_free (entry);
}

/* Hashes the entry piece by piece, so that it is never in memory as a whole. */
static gboolean
compare_hash (const LateEntry *entry, GError **error)
{
  g_autoptr (GChecksum) checksum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guint8 *piece = g_malloc (PIECE);
  guint64 size = adj_file_part_get_size (entry->part);

  for (guint64 at = 0; at < size; at += PIECE)
    {
      gsize n = (gsize) MIN (PIECE, size - at);

      if (!adj_file_part_copy (entry->part, at, n, piece, error))
        return FALSE;
      g_checksum_update (checksum, piece, (gssize) n);
    }
  if (g_ascii_strcasecmp (g_checksum_get_string (checksum), entry->sha256) == 0)
    return TRUE;
  if (adj_file_part_check_unchanged (entry->part, error))
    g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_PARSE,
                         "edited by hand (its sha256 is not the one in adjoint.json)");
  return FALSE;
}

/* Kernels require booleans to be 0 or 1: every other byte becomes 1. */
static GBytes *
normalise (GBytes *bytes)
{
  gsize n;
  guint8 *data = g_bytes_unref_to_data (bytes, &n);

  for (gsize i = 0; i < n; i++)
    data[i] = data[i] != 0;
  return g_bytes_new_take (data, n);
}

static GBytes *
read_slice (gpointer data, GError **error)
{
  const Slice *slice = data;
  LateEntry *entry = slice->entry;
  g_autoptr (GError) reason = NULL;
  GBytes *bytes = NULL;

  g_mutex_lock (&entry->lock);
  if (entry->failure == NULL && !entry->compared && entry->sha256 != NULL)
    compare_hash (entry, &reason);
  entry->compared = TRUE;
  if (entry->failure == NULL && reason == NULL)
    bytes = adj_file_part_read (entry->part, slice->at, slice->n, &reason);
  if (reason != NULL)
    {
      g_prefix_error (&reason, "%s: ", entry->name);
      entry->failure = g_steal_pointer (&reason);
    }
  if (entry->failure != NULL && error != NULL)
    *error = g_error_copy (entry->failure);
  g_mutex_unlock (&entry->lock);
  return bytes != NULL && slice->booleans ? normalise (bytes) : bytes;
}

static void
free_slice (gpointer data)
{
  late_entry_unref (((Slice *) data)->entry);
  g_free (data);
}

AdjLateBytes *
late_entry_get_bytes (LateEntry *entry, guint64 at, gsize n, gboolean booleans)
{
  Slice *slice = g_new (Slice, 1);

  *slice = (Slice){ late_entry_ref (entry), at, n, booleans };
  return adj_late_bytes_new (n, read_slice, slice, free_slice);
}
