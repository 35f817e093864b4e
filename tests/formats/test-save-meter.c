/* SPDX-License-Identifier: MIT */

/* Saving reports its progress; when it is cancelled, the existing file is unchanged. */

#include <gio/gio.h>

#include "formats/adj-format.h"
#include "support/adj-test.h"
#include "support/large-bundle.h"

#define SIZE (5 << 20)

typedef struct
{
  GCancellable *cancellable;
  guint stop; /* number of reports after which to cancel */
  guint n, done, total;
} Watch;

static void
on_progress (guint done, guint total, gpointer data)
{
  Watch *watch = data;

  g_assert_cmpuint (done, >=, watch->done);
  g_assert_cmpuint (done, <=, total);
  g_assert_true (watch->n == 0 || total == watch->total);
  watch->done = done;
  watch->total = total;
  if (++watch->n == watch->stop)
    g_cancellable_cancel (watch->cancellable);
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

/* Saves over a file with other content; %FALSE when it was cancelled. */
static gboolean
save (AdjBundle *bundle, const char *suffix, Watch *watch)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *name = g_strconcat ("step", suffix, NULL);
  g_autofree char *path = g_build_filename (folder->path, name, NULL);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const AdjSaveOptions options = { .progress = on_progress, .data = watch };
  g_autoptr (GError) error = NULL;
  g_autofree char *after = NULL;
  gboolean saved;

  watch->cancellable = cancellable;
  g_assert_true (g_file_set_contents (path, "before", -1, NULL));
  saved = adj_format_for_path (path, NULL)->save (bundle, path, &options, cancellable, &error);
  after = adj_test_read_file (path, NULL);
  g_assert_cmpuint (count_files (folder->path), ==, 1);
  if (saved)
    g_assert_no_error (error);
  else
    g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  g_assert_true (saved == !g_str_equal (after, "before"));
  return saved;
}

static void
test_every_place (gconstpointer suffix)
{
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (SIZE);
  Watch all = { 0 };

  g_assert_true (save (bundle, suffix, &all));
  g_assert_cmpuint (all.n, >, 0);
  g_assert_cmpuint (all.done * 1.01, >=, all.total);
  for (guint i = 1; i <= all.n; i++)
    {
      Watch watch = { .stop = i };

      g_assert_false (save (bundle, suffix, &watch));
      g_assert_cmpuint (watch.n, ==, i);
    }
}

/* Five MiB are hashed, summed and written with progress reports in between. */
static void
test_tells_bytes (void)
{
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (SIZE);
  Watch watch = { 0 };

  g_assert_true (save (bundle, ".adjoint", &watch));
  g_assert_cmpuint (watch.total, >=, SIZE >> 10);
  g_assert_cmpuint (watch.total, <, (SIZE >> 10) * 1.1);
  g_assert_cmpuint (watch.n, >, 15);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/save-meter/tells-bytes", test_tells_bytes);
  g_test_add_data_func ("/formats/save-meter/archive", ".adjoint", test_every_place);
  g_test_add_data_func ("/formats/save-meter/text", ".txt", test_every_place);
  return g_test_run ();
}
