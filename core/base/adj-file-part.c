/* SPDX-License-Identifier: MIT */
/* Parts of files: in memory, or read on request. */

#include <errno.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/adj-error.h"
#include "base/adj-file-part-internal.h"

#define ALIGNMENT 64

typedef struct
{
  int fd;
  struct stat status; /* when it was opened */
} OpenFile;

struct _AdjFilePart
{
  gatomicrefcount ref_count;
  GBytes *bytes;  /* (owned) (nullable) */
  OpenFile *file; /* (owned) (nullable): an atomic box; without @bytes */
  guint64 start, size;
};

static void
clear_file (gpointer data)
{
  close (((OpenFile *) data)->fd);
}

static AdjFilePart *
new_part (GBytes *bytes, OpenFile *file, guint64 start, guint64 size)
{
  AdjFilePart *part = g_new0 (AdjFilePart, 1);

  g_atomic_ref_count_init (&part->ref_count);
  part->bytes = bytes;
  part->file = file;
  part->start = start;
  part->size = size;
  return part;
}

AdjFilePart *
adj_file_part_new_for_bytes (GBytes *bytes)
{
  g_return_val_if_fail (bytes != NULL, NULL);

  return new_part (g_bytes_ref (bytes), NULL, 0, g_bytes_get_size (bytes));
}

AdjFilePart *
adj_file_part_open (const char *path, AdjFileFlags flags, GCancellable *cancellable, GError **error)
{
  struct stat status;
  g_autoptr (GBytes) bytes = NULL;
  OpenFile *file;
  int fd = adj_file_open_regular (path, flags, &status, error);

  if (fd < 0)
    return NULL;
  if (status.st_size > ADJ_FILE_PART_IN_MEMORY)
    {
      file = g_atomic_rc_box_new0 (OpenFile);
      *file = (OpenFile){ fd, status };
      return new_part (NULL, file, 0, (guint64) status.st_size);
    }
  close (fd);
  bytes = adj_file_read (path, flags, G_MAXINT64, cancellable, error);
  return bytes != NULL ? adj_file_part_new_for_bytes (bytes) : NULL;
}

AdjFilePart *
adj_file_part_new_within (AdjFilePart *part, guint64 at, guint64 size)
{
  g_return_val_if_fail (at <= part->size && size <= part->size - at, NULL);

  if (part->bytes != NULL)
    return new_part (g_bytes_new_from_bytes (part->bytes, at, size), NULL, 0, size);
  return new_part (NULL, g_atomic_rc_box_acquire (part->file), part->start + at, size);
}

AdjFilePart *
adj_file_part_ref (AdjFilePart *part)
{
  g_atomic_ref_count_inc (&part->ref_count);
  return part;
}

void
adj_file_part_unref (AdjFilePart *part)
{
  if (!g_atomic_ref_count_dec (&part->ref_count))
    return;
  g_clear_pointer (&part->bytes, g_bytes_unref);
  if (part->file != NULL)
    g_atomic_rc_box_release_full (part->file, clear_file);
  g_free (part);
}

guint64
adj_file_part_get_size (const AdjFilePart *part)
{
  return part->size;
}

GBytes *
adj_file_part_peek (const AdjFilePart *part)
{
  return part->bytes;
}

static gboolean
fail_changed (GError **error)
{
  g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_STALE,
                       "somebody changed the file since it was opened");
  return FALSE;
}

gboolean
adj_file_part_check_unchanged (const AdjFilePart *part, GError **error)
{
  struct stat now;

  if (part->file == NULL)
    return TRUE;
  return (fstat (part->file->fd, &now) == 0 && adj_file_is_same (&part->file->status, &now)) ||
         fail_changed (error);
}

gboolean
adj_file_part_copy (const AdjFilePart *part, guint64 at, gsize n, gpointer out, GError **error)
{
  gsize done = 0;

  g_return_val_if_fail (at <= part->size && n <= part->size - at, FALSE);

  if (part->bytes != NULL && n > 0)
    memcpy (out, (const guint8 *) g_bytes_get_data (part->bytes, NULL) + at, n);
  while (part->bytes == NULL && done < n)
    {
      gssize got = pread (part->file->fd, (guint8 *) out + done, n - done,
                          (off_t) (part->start + at + done));

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        {
          g_set_error_literal (error, G_IO_ERROR, g_io_error_from_errno (errno),
                               g_strerror (errno));
          return FALSE;
        }
      if (got == 0)
        return fail_changed (error);
      done += (gsize) got;
    }
  return TRUE;
}

GBytes *
adj_file_part_read (const AdjFilePart *part, guint64 at, gsize n, GError **error)
{
  gpointer data;

  g_return_val_if_fail (at <= part->size && n <= part->size - at, NULL);

  if (part->bytes != NULL)
    return g_bytes_new_from_bytes (part->bytes, at, n);
  data = aligned_alloc (ALIGNMENT, (n / ALIGNMENT + 1) * ALIGNMENT);
  if (data == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY, "no memory for its %" G_GSIZE_FORMAT " bytes",
                 n);
  else if (adj_file_part_copy (part, at, n, data, error) &&
           adj_file_part_check_unchanged (part, error))
    return g_bytes_new_with_free_func (data, n, free, data);
  free (data);
  return NULL;
}
