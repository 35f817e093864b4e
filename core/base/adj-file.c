/* SPDX-License-Identifier: MIT */
/* Reads consistent copies of files, in memory or mapped, and makes unnamed temporary files. */

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/adj-error.h"
#include "base/adj-file-internal.h"

#define IN_MEMORY                                                                                  \
  (256 << 20) /* bytes; of larger files the copy is a file, which may be paged out */
#define PIECE (16 << 20)
#define ALIGNMENT 64 /* the alignment of archive entries */

gboolean
adj_file_fail (const char *path, int code, GError **error)
{
  g_set_error (error, G_IO_ERROR, g_io_error_from_errno (code), "%s: %s", path, g_strerror (code));
  return FALSE;
}

static gboolean
fail_for_memory (const char *path, goffset size, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY,
               "%s: there is no room for a copy of its %" G_GOFFSET_FORMAT " bytes", path, size);
  return FALSE;
}

/* -- files without a name -- */

/* /tmp is often in memory. */
const char *
adj_file_temporary_folder (void)
{
  const char *chosen = g_getenv ("TMPDIR");

  return chosen != NULL && *chosen != '\0' ? chosen : "/var/tmp";
}

int
adj_file_open_unnamed (void)
{
  g_autofree char *name = NULL;
  int fd = open (adj_file_temporary_folder (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  if (fd >= 0)
    return fd;
  /* Not every file system has unnamed files. */
  name = g_build_filename (adj_file_temporary_folder (), "adjoint-XXXXXX", NULL);
  fd = g_mkstemp_full (name, O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0)
    g_unlink (name);
  return fd;
}

/* -- reading -- */

typedef struct
{
  const char *path;
  AdjFileFlags flags;
  int fd;
  struct stat status; /* when it was opened */
  goffset from;       /* offset from which the file is read */
  GCancellable *cancellable;
} Source;

static goffset
size_of (const Source *source)
{
  return MAX (source->status.st_size - source->from, 0);
}

int
adj_file_open_regular (const char *path, AdjFileFlags flags, struct stat *status, GError **error)
{
  int no_link = flags & ADJ_FILE_NO_LINK ? O_NOFOLLOW : 0;
  int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | no_link);

  if (fd < 0 || fstat (fd, status) != 0)
    adj_file_fail (path, errno, error);
  else if (!S_ISREG (status->st_mode))
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: not a regular file", path);
  else
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

static gboolean
source_open (Source *source, GError **error)
{
  source->fd = adj_file_open_regular (source->path, source->flags, &source->status, error);
  return source->fd >= 0;
}

static void
source_clear (Source *source)
{
  if (source->fd >= 0)
    close (source->fd);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Source, source_clear)

gboolean
adj_file_is_same (const struct stat *before, const struct stat *now)
{
  return now->st_size == before->st_size && now->st_mtim.tv_sec == before->st_mtim.tv_sec &&
         now->st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static gboolean
fail_changed (const Source *source, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_STALE, "%s: somebody changed it while it was read",
               source->path);
  return FALSE;
}

static gboolean
check_unchanged (const Source *source, GError **error)
{
  struct stat now;

  if (fstat (source->fd, &now) != 0)
    return adj_file_fail (source->path, errno, error);
  if ((source->flags & ADJ_FILE_MAY_GROW) && now.st_size > source->status.st_size)
    return TRUE;
  return adj_file_is_same (&source->status, &now) || fail_changed (source, error);
}

/* Takes @size bytes piece by piece; @take returns how many, 0 at the end of the file, or -1. */
static gboolean
take_all (const Source *source,
          goffset size,
          gssize (*take) (const Source *source, gsize n, goffset at, gpointer data),
          gpointer data,
          GError **error)
{
  for (goffset at = 0; at < size;)
    {
      gssize n = take (source, (gsize) MIN (size - at, PIECE), at, data);

      if (g_cancellable_set_error_if_cancelled (source->cancellable, error))
        return FALSE;
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return adj_file_fail (source->path, errno, error);
      if (n == 0)
        return fail_changed (source, error);
      at += n;
    }
  return TRUE;
}

static gssize
take_into_memory (const Source *source, gsize n, goffset at, gpointer data)
{
  return pread (source->fd, (guint8 *) data + at, n, source->from + at);
}

static GBytes *
copy_into_memory (const Source *source, GError **error)
{
  goffset size = size_of (source);
  gpointer data = aligned_alloc (ALIGNMENT, ((gsize) size / ALIGNMENT + 1) * ALIGNMENT);

  if (data == NULL)
    fail_for_memory (source->path, size, error);
  else if (take_all (source, size, take_into_memory, data, error))
    return g_bytes_new_with_free_func (data, (gsize) size, free, data);
  free (data);
  return NULL;
}

/* Copies blocks inside the kernel; file systems may share them. */
static gssize
take_into_file (const Source *source, gsize n, goffset at, gpointer data)
{
  int to = *(const int *) data;
  off_t from = source->from + at;
  gssize done = copy_file_range (source->fd, &from, to, NULL, n, 0);

  if (done >= 0 || (errno != EXDEV && errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP))
    return done;
  return sendfile (to, source->fd, &from, n);
}

typedef struct
{
  gpointer start;
  gsize n_bytes;
} Mapping;

static void
mapping_free (gpointer data)
{
  Mapping *mapping = data;

  munmap (mapping->start, mapping->n_bytes);
  g_free (mapping);
}

static GBytes *
map_copy (const Source *source, int copy, GError **error)
{
  gsize size = (gsize) size_of (source);
  gpointer start = mmap (NULL, size, PROT_READ, MAP_PRIVATE, copy, 0);
  Mapping *mapping;

  if (start == MAP_FAILED)
    {
      fail_for_memory (source->path, size_of (source), error);
      return NULL;
    }
  mapping = g_new (Mapping, 1);
  *mapping = (Mapping){ start, size };
  return g_bytes_new_with_free_func (start, size, mapping_free, mapping);
}

static GBytes *
copy_into_file (const Source *source, GError **error)
{
  int copy = adj_file_open_unnamed ();
  g_autoptr (GError) reason = NULL;
  GBytes *bytes = NULL;

  if (copy < 0)
    return copy_into_memory (source, error);
  if (take_all (source, size_of (source), take_into_file, &copy, &reason))
    bytes = map_copy (source, copy, error);
  else if (g_error_matches (reason, G_IO_ERROR, G_IO_ERROR_NO_SPACE))
    bytes = copy_into_memory (source, error);
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  close (copy);
  return bytes;
}

GBytes *
adj_file_read_from (const char *path,
                    guint64 from,
                    AdjFileFlags flags,
                    guint64 max_bytes,
                    GCancellable *cancellable,
                    GError **error)
{
  g_auto (Source) source = {
    .path = path, .flags = flags, .fd = -1, .from = (goffset) from, .cancellable = cancellable
  };
  g_autoptr (GBytes) bytes = NULL;

  g_return_val_if_fail (path != NULL && from <= G_MAXINT64, NULL);

  if (!source_open (&source, error))
    return NULL;
  if ((guint64) size_of (&source) > max_bytes)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "%s: %" G_GOFFSET_FORMAT " bytes, more than %" G_GUINT64_FORMAT, path,
                   size_of (&source), max_bytes);
      return NULL;
    }
  bytes = size_of (&source) <= IN_MEMORY ? copy_into_memory (&source, error)
                                         : copy_into_file (&source, error);
  return bytes != NULL && check_unchanged (&source, error) ? g_steal_pointer (&bytes) : NULL;
}

GBytes *
adj_file_read (const char *path,
               AdjFileFlags flags,
               guint64 max_bytes,
               GCancellable *cancellable,
               GError **error)
{
  return adj_file_read_from (path, 0, flags, max_bytes, cancellable, error);
}

gssize
adj_file_read_head (const char *path, guint8 *head, gsize length, GError **error)
{
  g_auto (Source) source = { .path = path, .fd = -1 };
  gssize n;

  g_return_val_if_fail (path != NULL && head != NULL, -1);

  if (!source_open (&source, error))
    return -1;
  while ((n = pread (source.fd, head, length, 0)) < 0 && errno == EINTR)
    ;
  if (n < 0)
    adj_file_fail (path, errno, error);
  return n;
}
