/* SPDX-License-Identifier: MIT */
/* The file grows by segments that are mapped whole: a mapping for each value would soon be more
 * than the kernel allows.  Bytes are written, not stored through the mapping, so that a full disk
 * is an error and not a signal. */

#include "exec/adj-spill.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/adj-error.h"
#include "base/adj-file-internal.h"
#include "base/adj-format-bytes.h"
#include "interpreter/adj-interpreter.h"
#include "tensor/adj-late-bytes-internal.h"

#define SEGMENT_BYTES (64 << 20)
#define ALIGNMENT 64
#define N_LAST 8

/* A mapped piece of the file, counted by the values in it. */
typedef struct
{
  guint8 *start;
  gsize n_bytes, used;
} Segment;

struct _AdjSpill
{
  guint64 left; /* bytes that may still stay in memory */
  guint64 spilled;
  GHashTable *kept; /* GBytes in memory, each counted once */
  int file;         /* -1: not there yet */
  goffset end;
  Segment *segment;     /* (owned) (nullable): takes the next value */
  GBytes *last[N_LAST]; /* (owned) (nullable): written last; views on them follow soon */
  guint n_written;
};

AdjSpill *
adj_spill_new (guint64 memory)
{
  AdjSpill *spill = g_new0 (AdjSpill, 1);

  spill->left = memory > 0 ? memory : adj_memory_get_available () / 8;
  spill->kept = g_hash_table_new_full (NULL, NULL, (GDestroyNotify) g_bytes_unref, NULL);
  spill->file = -1;
  return spill;
}

static void
segment_clear (gpointer data)
{
  Segment *segment = data;

  munmap (segment->start, segment->n_bytes);
}

static void
segment_unref (gpointer segment)
{
  g_atomic_rc_box_release_full (segment, segment_clear);
}

void
adj_spill_free (AdjSpill *spill)
{
  for (guint i = 0; i < N_LAST; i++)
    g_clear_pointer (&spill->last[i], g_bytes_unref);
  g_clear_pointer (&spill->segment, segment_unref);
  if (spill->file >= 0)
    close (spill->file);
  g_hash_table_unref (spill->kept);
  g_free (spill);
}

guint64
adj_spill_get_spilled (const AdjSpill *spill)
{
  return spill->spilled;
}

/* @where there was no room for @n_bytes. */
static gboolean
fail (const AdjSpill *spill, gsize n_bytes, const char *where, GError **error)
{
  const char *why = g_strerror (errno);
  g_autofree char *wanted = adj_format_bytes (n_bytes);
  g_autofree char *there = adj_format_bytes (spill->spilled);

  g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
               "the values of the nodes do not fit: %s: no room for %s beside %s of them: %s",
               where, wanted, there, why);
  return FALSE;
}

static gboolean
open_file (AdjSpill *spill, gsize n_bytes, GError **error)
{
  if (spill->file < 0)
    spill->file = adj_file_open_unnamed ();
  return spill->file >= 0 || fail (spill, n_bytes, adj_file_temporary_folder (), error);
}

/* Makes room for @n_bytes in the current segment. */
static gboolean
reserve (AdjSpill *spill, gsize n_bytes, GError **error)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  Segment *segment = spill->segment;

  if (segment != NULL && segment->n_bytes - segment->used >= n_bytes)
    return TRUE;
  g_clear_pointer (&spill->segment, segment_unref);
  n_bytes = MAX ((n_bytes + page - 1) / page * page, SEGMENT_BYTES);
  if (!open_file (spill, n_bytes, error))
    return FALSE;
  if (ftruncate (spill->file, spill->end + (goffset) n_bytes) != 0)
    return fail (spill, n_bytes, adj_file_temporary_folder (), error);
  segment = g_atomic_rc_box_new0 (Segment);
  segment->n_bytes = n_bytes;
  segment->start = mmap (NULL, n_bytes, PROT_READ, MAP_SHARED, spill->file, spill->end);
  if (segment->start == MAP_FAILED)
    {
      g_atomic_rc_box_release (segment);
      return fail (spill, n_bytes, "mmap", error);
    }
  spill->end += (goffset) n_bytes;
  spill->segment = segment;
  return TRUE;
}

static gboolean
write_all (const AdjSpill *spill, const guint8 *data, gsize n_bytes, goffset at, GError **error)
{
  while (n_bytes > 0)
    {
      gssize written = pwrite (spill->file, data, n_bytes, at);

      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return fail (spill, n_bytes, adj_file_temporary_folder (), error);
      data += written;
      n_bytes -= (gsize) written;
      at += written;
    }
  return TRUE;
}

/* (transfer full) (nullable) */
static GBytes *
write_bytes (AdjSpill *spill, GBytes *bytes, GError **error)
{
  gsize n_bytes;
  const guint8 *data = g_bytes_get_data (bytes, &n_bytes);
  Segment *segment;
  gsize at;

  if (!reserve (spill, n_bytes, error))
    return NULL;
  segment = spill->segment;
  at = segment->used;
  if (!write_all (spill, data, n_bytes, spill->end - (goffset) (segment->n_bytes - at), error))
    return NULL;
  segment->used = MIN (segment->n_bytes, (at + n_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  spill->spilled += n_bytes;
  return g_bytes_new_with_free_func (segment->start + at, n_bytes, segment_unref,
                                     g_atomic_rc_box_acquire (segment));
}

/* (transfer full) (nullable): @bytes as they are in the file, if they were written lately. */
static GBytes *
find_written (const AdjSpill *spill, GBytes *bytes)
{
  for (guint i = 0; i < N_LAST; i++)
    if (spill->last[i] != NULL && g_bytes_equal (spill->last[i], bytes))
      return g_bytes_ref (spill->last[i]);
  return NULL;
}

static void
remember (AdjSpill *spill, GBytes *written)
{
  GBytes **place = &spill->last[spill->n_written++ % N_LAST];

  g_clear_pointer (place, g_bytes_unref);
  *place = g_bytes_ref (written);
}

AdjTensorData *
adj_spill_take (AdjSpill *spill, AdjTensorData *data, GError **error)
{
  GBytes *bytes;
  gsize n_bytes = adj_tensor_data_get_n_bytes (data);
  g_autoptr (GBytes) written = NULL;

  if (adj_tensor_data_get_late (data) != NULL)
    return adj_tensor_data_ref (data);
  bytes = adj_tensor_data_get_bytes (data);
  if (g_hash_table_contains (spill->kept, bytes))
    return adj_tensor_data_ref (data);
  if (n_bytes <= spill->left)
    {
      spill->left -= n_bytes;
      g_hash_table_add (spill->kept, g_bytes_ref (bytes));
      return adj_tensor_data_ref (data);
    }
  written = find_written (spill, bytes);
  if (written == NULL && (written = write_bytes (spill, bytes, error)) != NULL)
    remember (spill, written);
  return written != NULL ? adj_tensor_data_new (adj_tensor_data_get_meta (data), written, error)
                         : NULL;
}
