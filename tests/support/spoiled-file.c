/* SPDX-License-Identifier: MIT */
/* Somebody who writes what others read. */

#include "support/spoiled-file.h"

#include <fcntl.h>
#include <unistd.h>

#include "support/adj-test.h"

struct _AdjTestSpoiledFile
{
  GThread *thread; /* (owned) */
  char *path;
  char *bytes;
  gsize length;
  gint stop; /* atomic */
};

static gpointer
spoil (gpointer data)
{
  AdjTestSpoiledFile *self = data;

  while (!g_atomic_int_get (&self->stop))
    {
      int fd = open (self->path, O_WRONLY);

      g_assert_cmpint (ftruncate (fd, (off_t) self->length / 3), ==, 0);
      g_usleep (2000);
      g_assert_cmpint (pwrite (fd, self->bytes, self->length, 0), ==, self->length);
      g_usleep (100000);
      close (fd);
    }
  return NULL;
}

AdjTestSpoiledFile *
adj_test_spoil_file (const char *path)
{
  AdjTestSpoiledFile *self = g_new0 (AdjTestSpoiledFile, 1);

  self->path = g_strdup (path);
  self->bytes = adj_test_read_file (path, &self->length);
  self->thread = g_thread_new ("spoiler", spoil, self);
  return self;
}

void
adj_test_spoiled_file_stop (AdjTestSpoiledFile *self)
{
  g_atomic_int_set (&self->stop, 1);
  g_thread_join (self->thread);
  g_free (self->bytes);
  g_free (self->path);
  g_free (self);
}
