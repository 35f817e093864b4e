/* SPDX-License-Identifier: MIT */

/* Files are read as a snapshot of one moment, although another process changes them. */

#include <fcntl.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/adj-error.h"
#include "base/adj-file-internal.h"
#include "support/adj-test.h"

#define SIZE (1 << 20)
#define PATIENCE (10 * G_TIME_SPAN_SECOND)
#define LARGE (G_GINT64_CONSTANT (300) << 20)

typedef struct
{
  char *path;
  gint stop; /* atomic */
} Spoiler;

/* Rewrites the file in place with other bytes each time. */
static gpointer
spoil (gpointer data)
{
  Spoiler *spoiler = data;

  for (guint8 round = 1; !g_atomic_int_get (&spoiler->stop); round++)
    {
      g_autofree char *bytes = g_strnfill (SIZE, (char) ('a' + round % 26));
      int fd = open (spoiler->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

      g_assert_cmpint (write (fd, bytes, SIZE), ==, SIZE);
      close (fd);
      g_usleep (200);
    }
  return NULL;
}

static void
assert_one_letter (GBytes *bytes)
{
  gsize n;
  const char *data = g_bytes_get_data (bytes, &n);

  for (gsize i = 1; i < n; i++)
    g_assert_cmpint (data[i], ==, data[0]);
}

static void
test_changed (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "file", NULL);
  Spoiler spoiler = { path, 0 };
  GThread *thread;
  gint64 end = g_get_monotonic_time () + PATIENCE;
  guint n_changed = 0, n = 0;

  g_assert_true (g_file_set_contents (path, "", 0, NULL));
  thread = g_thread_new ("spoiler", spoil, &spoiler);
  for (; n_changed < 20 && g_get_monotonic_time () < end; n++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = adj_file_read (path, ADJ_FILE_WHOLE, SIZE, NULL, &error);

      if (bytes != NULL && g_bytes_get_size (bytes) == SIZE)
        assert_one_letter (bytes);
      else if (bytes == NULL)
        g_assert_error (error, ADJ_ERROR, ADJ_ERROR_STALE);
      n_changed += bytes == NULL;
    }
  g_atomic_int_set (&spoiler.stop, 1);
  g_thread_join (thread);
  g_test_message ("%u of %u readings were told of a change", n_changed, n);
  g_assert_cmpuint (n_changed, >, 0);
}

/* A large file is private too once it is read. */
static void
test_large (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "file", NULL);
  int fd = open (path, O_RDWR | O_CREAT, 0600);
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  const char *data;

  g_assert_cmpint (ftruncate (fd, LARGE), ==, 0);
  g_assert_cmpint (pwrite (fd, "end", 3, LARGE - 3), ==, 3);
  bytes = adj_file_read (path, ADJ_FILE_WHOLE, G_MAXINT64, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpint (ftruncate (fd, 0), ==, 0);
  close (fd);
  data = g_bytes_get_data (bytes, NULL);
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, LARGE);
  g_assert_cmpint (memcmp (data + LARGE - 3, "end", 3), ==, 0);
  g_assert_cmpint (data[LARGE / 2], ==, 0);
}

static void
assert_refused (const char *path, AdjFileFlags flags, GQuark domain, int code)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (adj_file_read (path, flags, 100, NULL, &error));
  g_assert_error (error, domain, code);
  g_assert_true (g_str_has_prefix (error->message, path));
}

static void
test_refused (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "file", NULL);
  g_autofree char *pipe = g_build_filename (folder->path, "pipe", NULL);
  g_autofree char *link = g_build_filename (folder->path, "link", NULL);
  g_autofree char *text = g_strnfill (101, 'x');

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_cmpint (symlink ("file", link), ==, 0);
  assert_refused (path, ADJ_FILE_WHOLE, ADJ_ERROR, ADJ_ERROR_LIMIT);
  assert_refused (link, ADJ_FILE_WHOLE, ADJ_ERROR, ADJ_ERROR_LIMIT);
  assert_refused (link, ADJ_FILE_NO_LINK, G_IO_ERROR, G_IO_ERROR_TOO_MANY_LINKS);
  assert_refused (pipe, ADJ_FILE_WHOLE, ADJ_ERROR, ADJ_ERROR_PARSE);
  assert_refused (folder->path, ADJ_FILE_WHOLE, ADJ_ERROR, ADJ_ERROR_PARSE);
  assert_refused ("/dev/zero", ADJ_FILE_WHOLE, ADJ_ERROR, ADJ_ERROR_PARSE);
  assert_refused ("/nowhere", ADJ_FILE_WHOLE, G_IO_ERROR, G_IO_ERROR_NOT_FOUND);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/base/file/changed-while-read", test_changed);
  g_test_add_func ("/base/file/large-is-copied", test_large);
  g_test_add_func ("/base/file/refused", test_refused);
  return g_test_run ();
}
