/* SPDX-License-Identifier: MIT */
/* AdjFileWriter: replaces a file as a whole, by one writer at a time.
 *
 * The new content is written to a file beside, which is also the lock: its name is derived from
 * that of the target, and the writer that holds the lock on the file of that name may write.  An
 * unlocked one was left by a killed writer.  Renaming it over the target frees the name; a waiting
 * writer then creates another.
 *
 * Its path is noted in a folder of the user, so that the next start can remove a left-over one even
 * if that file is never written again. */

#include "base/adj-file-writer.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/adj-file-internal.h"

#define PREFIX ".adjoint-"
#define SUFFIX ".part"
#define SUM_LENGTH 16
#define MAX_LINKS 40
#define WAIT (30 * G_TIME_SPAN_SECOND)
#define PAUSE (10 * G_TIME_SPAN_MILLISECOND)

struct _AdjFileWriter
{
  char *path;   /* as given, for messages */
  char *target; /* the path after following links */
  char *beside; /* the new file, next to @target */
  char *note;   /* the link that notes @beside for sweeping */
  int fd;       /* of @beside; -1 after it replaced @target */
};

/* -- names -- */

/* The path at the end of the links, which need not exist.  (nullable): too many links */
static char *
follow_links (const char *path)
{
  g_autofree char *at = g_strdup (path);

  for (guint i = 0; i < MAX_LINKS; i++)
    {
      g_autofree char *to = g_file_read_link (at, NULL);
      g_autofree char *folder = NULL;

      if (to == NULL)
        return g_steal_pointer (&at);
      folder = g_path_get_dirname (at);
      g_free (at);
      at = g_path_is_absolute (to) ? g_steal_pointer (&to) : g_build_filename (folder, to, NULL);
    }
  errno = ELOOP;
  return NULL;
}

/* (nullable): the folder does not exist */
static char *
name_beside (const char *target)
{
  g_autofree char *folder = g_path_get_dirname (target);
  g_autofree char *base = g_path_get_basename (target);
  g_autofree char *sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, base, -1);
  g_autofree char *name = g_strdup_printf (PREFIX "%.*s" SUFFIX, SUM_LENGTH, sum);
  char *real = realpath (folder, NULL);
  char *beside = real != NULL ? g_build_filename (real, name, NULL) : NULL;

  free (real);
  return beside;
}

static gboolean
is_name_beside (const char *path)
{
  g_autofree char *base = g_path_get_basename (path);

  return strlen (base) == strlen (PREFIX) + SUM_LENGTH + strlen (SUFFIX) &&
         g_str_has_prefix (base, PREFIX) && g_str_has_suffix (base, SUFFIX);
}

/* -- notes: links to what is being written -- */

static char *
notes_folder (void)
{
  return g_build_filename (g_get_user_cache_dir (), "adjoint", "unfinished", NULL);
}

static char *
name_note (void)
{
  g_autofree char *folder = notes_folder ();
  g_autofree char *name = g_uuid_string_random ();

  return g_build_filename (folder, name, NULL);
}

/* Failures are ignored: the next writer of the file still finds a left-over one. */
static void
note_down (const AdjFileWriter *self)
{
  g_autofree char *folder = g_path_get_dirname (self->note);

  if (symlink (self->beside, self->note) != 0 && errno == ENOENT &&
      g_mkdir_with_parents (folder, 0700) == 0 && symlink (self->beside, self->note) != 0)
    g_debug ("%s: %s", self->note, g_strerror (errno));
}

/* -- the lock -- */

/* File systems without locks: writers do not wait for each other. */
static gboolean
lock (int fd)
{
  return flock (fd, LOCK_EX | LOCK_NB) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
}

/* Whether @path still names the open file @fd. */
static gboolean
is_at (int fd, const char *path)
{
  struct stat here, there;

  return fstat (fd, &here) == 0 && lstat (path, &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

/* %FALSE if another writer holds it, or if it cannot be removed (errno). */
static gboolean
remove_left_over (const char *beside)
{
  int fd = open (beside, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  gboolean gone;
  int code;

  if (fd < 0)
    return errno == ENOENT;
  gone = lock (fd) && (!is_at (fd, beside) || g_unlink (beside) == 0);
  code = errno;
  close (fd);
  errno = code;
  return gone;
}

/* One try.  A new file gets permissions by the umask; one that replaces another is private until it
 * has the permissions of that one. */
static gboolean
try_open (AdjFileWriter *self)
{
  mode_t mode = g_file_test (self->target, G_FILE_TEST_EXISTS) ? 0600 : 0666;

  note_down (self);
  self->fd = open (self->beside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (self->fd < 0)
    return FALSE;
  if (lock (self->fd) && is_at (self->fd, self->beside))
    {
      note_down (self);
      return TRUE;
    }
  close (self->fd);
  self->fd = -1;
  errno = EEXIST;
  return FALSE;
}

static gboolean
fail_busy (const AdjFileWriter *self, GError **error)
{
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_BUSY, "%s: somebody else is still writing it",
               self->path);
  return FALSE;
}

static gboolean
open_beside (AdjFileWriter *self, GCancellable *cancellable, GError **error)
{
  gint64 end = g_get_monotonic_time () + WAIT;

  while (!try_open (self))
    {
      if (errno != EEXIST)
        return adj_file_fail (self->path, errno, error);
      if (remove_left_over (self->beside))
        continue;
      if (errno != EWOULDBLOCK)
        return adj_file_fail (self->beside, errno, error);
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;
      if (g_get_monotonic_time () > end)
        return fail_busy (self, error);
      g_usleep (PAUSE);
    }
  return TRUE;
}

/* -- writing -- */

/* Checks that the target is a writable file or does not exist. */
static gboolean
check_target (const AdjFileWriter *self, GError **error)
{
  struct stat status;

  if (stat (self->target, &status) != 0)
    return errno == ENOENT || adj_file_fail (self->path, errno, error);
  if (S_ISDIR (status.st_mode))
    return adj_file_fail (self->path, EISDIR, error);
  if (!S_ISREG (status.st_mode))
    {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE, "%s: not a regular file",
                   self->path);
      return FALSE;
    }
  return faccessat (AT_FDCWD, self->target, W_OK, AT_EACCESS) == 0 ||
         adj_file_fail (self->path, errno, error);
}

AdjFileWriter *
adj_file_writer_open (const char *path, GCancellable *cancellable, GError **error)
{
  g_autoptr (AdjFileWriter) self = g_new0 (AdjFileWriter, 1);

  g_return_val_if_fail (path != NULL, NULL);

  self->fd = -1;
  self->path = g_strdup (path);
  self->target = follow_links (path);
  self->beside = self->target != NULL ? name_beside (self->target) : NULL;
  if (self->beside == NULL)
    {
      adj_file_fail (path, errno, error);
      return NULL;
    }
  self->note = name_note ();
  return check_target (self, error) && open_beside (self, cancellable, error)
             ? g_steal_pointer (&self)
             : NULL;
}

gboolean
adj_file_writer_write (AdjFileWriter *writer, gconstpointer bytes, gsize n, GError **error)
{
  const guint8 *at = bytes;

  g_return_val_if_fail (writer != NULL && writer->fd >= 0, FALSE);

  while (n > 0)
    {
      gssize written = write (writer->fd, at, n);

      if (written < 0 && errno == EINTR)
        continue;
      if (written <= 0)
        return adj_file_fail (writer->path, errno, error);
      at += written;
      n -= (gsize) written;
    }
  return TRUE;
}

/* Takes over owner, group and permissions of the old file.  Without the right to change the owner
 * keeps the group; if that fails too, the group's permissions become those of others. */
static gboolean
take_over_rights (const AdjFileWriter *self, GError **error)
{
  struct stat status;
  mode_t mode;

  if (stat (self->target, &status) != 0)
    return errno == ENOENT || adj_file_fail (self->path, errno, error);
  mode = status.st_mode & 0777;
  if (fchown (self->fd, status.st_uid, status.st_gid) != 0 &&
      fchown (self->fd, (uid_t) -1, status.st_gid) != 0)
    mode = (mode & 0707) | (mode & 0007) << 3;
  return fchmod (self->fd, mode) == 0 || adj_file_fail (self->path, errno, error);
}

/* Syncs the folder, which makes the rename durable; file systems that cannot are ignored. */
static gboolean
flush_folder (const AdjFileWriter *self, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (self->target);
  int fd = open (folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int code = fd >= 0 && fsync (fd) != 0 ? errno : 0;

  if (fd >= 0)
    close (fd);
  return (code != EIO && code != ENOSPC && code != EDQUOT) || adj_file_fail (folder, code, error);
}

gboolean
adj_file_writer_commit (AdjFileWriter *writer,
                        AdjFileWorth worth,
                        GCancellable *cancellable,
                        GError **error)
{
  g_return_val_if_fail (writer != NULL && writer->fd >= 0, FALSE);

  if (worth == ADJ_FILE_LASTING && fsync (writer->fd) != 0)
    return adj_file_fail (writer->path, errno, error);
  /* Flushing may take long. */
  if (g_cancellable_set_error_if_cancelled (cancellable, error) ||
      !take_over_rights (writer, error))
    return FALSE;
  if (!is_at (writer->fd, writer->beside))
    return adj_file_fail (writer->beside, ENOENT, error);
  if (g_rename (writer->beside, writer->target) != 0)
    return adj_file_fail (writer->path, errno, error);
  close (writer->fd);
  writer->fd = -1;
  return worth == ADJ_FILE_CACHE || flush_folder (writer, error);
}

void
adj_file_writer_free (AdjFileWriter *writer)
{
  if (writer == NULL)
    return;
  if (writer->fd >= 0 && is_at (writer->fd, writer->beside))
    g_unlink (writer->beside);
  if (writer->fd >= 0)
    close (writer->fd);
  if (writer->note != NULL)
    unlink (writer->note);
  g_free (writer->note);
  g_free (writer->beside);
  g_free (writer->target);
  g_free (writer->path);
  g_free (writer);
}

gboolean
adj_file_write (const char *path, gconstpointer bytes, gsize n, AdjFileWorth worth, GError **error)
{
  g_autoptr (AdjFileWriter) writer = adj_file_writer_open (path, NULL, error);

  return writer != NULL && adj_file_writer_write (writer, bytes, n, error) &&
         adj_file_writer_commit (writer, worth, NULL, error);
}

/* -- what was left -- */

/* Notes are not trusted: only files with the name pattern of this writer are removed. */
static void
sweep_one (const char *note)
{
  g_autofree char *beside = g_file_read_link (note, NULL);

  if (beside != NULL && (!is_name_beside (beside) || remove_left_over (beside)))
    unlink (note);
}

void
adj_file_writer_sweep (void)
{
  g_autofree char *folder = notes_folder ();
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *note = g_build_filename (folder, name, NULL);

      sweep_one (note);
    }
}
