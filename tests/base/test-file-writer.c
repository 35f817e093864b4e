/* SPDX-License-Identifier: MIT */

/* Files are replaced whole or not at all, by one writer at a time; leftovers of a killed writer
 * are removed.  ADJ_TEST_KILLS is the number of writers to kill. */

#include <fcntl.h>
#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/adj-file-writer.h"
#include "support/adj-test.h"

#define MUCH 65536

static const char *program; /* path of this test program */

typedef struct
{
  AdjTestFolder *folder;
  char *path; /* a file in the folder, with the content "old" */
} Fixture;

static void
write_file (const char *path, const char *text)
{
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
}

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = adj_test_folder_new ();
  fixture->path = g_build_filename (fixture->folder->path, "file", NULL);
  write_file (fixture->path, "old");
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_test_folder_free (fixture->folder);
  g_free (fixture->path);
}

static guint
count_files (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (dir != NULL && g_dir_read_name (dir) != NULL)
    n++;
  return n;
}

static void
assert_holds (const char *path, const char *text)
{
  g_autofree char *found = adj_test_read_file (path, NULL);

  g_assert_cmpstr (found, ==, text);
}

static mode_t
mode_of (const char *path)
{
  struct stat status;

  g_assert_cmpint (stat (path, &status), ==, 0);
  return status.st_mode & 07777;
}

static void
replace (const char *path, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (adj_file_write (path, text, strlen (text), ADJ_FILE_LASTING, &error));
  g_assert_no_error (error);
}

static void
assert_refused (const char *path)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (adj_file_write (path, "new", 3, ADJ_FILE_LASTING, &error));
  g_assert_nonnull (error);
  g_assert_true (g_str_has_prefix (error->message, path));
  g_assert_null (strchr (error->message, '\n'));
}

static void
test_rights (Fixture *fixture, gconstpointer data)
{
  static const mode_t modes[] = { 0600, 0640, 0604, 0755 };
  g_autofree char *fresh = g_build_filename (fixture->folder->path, "fresh", NULL);
  mode_t mask = umask (027);

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_assert_cmpint (g_chmod (fixture->path, (int) modes[i]), ==, 0);
      replace (fixture->path, "new");
      g_assert_cmpuint (mode_of (fixture->path), ==, modes[i]);
    }
  replace (fresh, "new");
  g_assert_cmpuint (mode_of (fresh), ==, 0640);
  g_assert_cmpuint (umask (mask), ==, 027);
}

/* A link is kept and its target replaced, whether the target exists or not. */
static void
test_links (Fixture *fixture, gconstpointer data)
{
  g_autofree char *sub = g_build_filename (fixture->folder->path, "sub", NULL);
  g_autofree char *link = g_build_filename (sub, "link", NULL);
  g_autofree char *loose = g_build_filename (sub, "loose", NULL);
  g_autofree char *fresh = g_build_filename (fixture->folder->path, "fresh", NULL);
  g_autofree char *loop = g_build_filename (sub, "loop", NULL);

  g_assert_cmpint (g_mkdir (sub, 0700), ==, 0);
  g_assert_cmpint (symlink ("../file", link), ==, 0);
  g_assert_cmpint (symlink ("../fresh", loose), ==, 0);
  g_assert_cmpint (symlink ("loop", loop), ==, 0);
  replace (link, "new");
  replace (loose, "newer");
  assert_refused (loop);
  g_assert_true (g_file_test (link, G_FILE_TEST_IS_SYMLINK));
  g_assert_true (g_file_test (loose, G_FILE_TEST_IS_SYMLINK));
  assert_holds (fixture->path, "new");
  assert_holds (fresh, "newer");
  g_assert_cmpuint (count_files (fixture->folder->path), ==, 3);
}

static void
test_no_files (Fixture *fixture, gconstpointer data)
{
  g_autofree char *pipe = g_build_filename (fixture->folder->path, "pipe", NULL);
  g_autofree char *lost = g_build_filename (fixture->folder->path, "lost", "file", NULL);

  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  assert_refused (pipe);
  assert_refused (lost);
  assert_refused (fixture->folder->path);
  assert_refused ("/dev/null");
  g_assert_cmpuint (count_files (fixture->folder->path), ==, 2);
}

static void
test_not_committed (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AdjFileWriter *writer = adj_file_writer_open (fixture->path, cancellable, &error);

  g_assert_no_error (error);
  g_assert_true (adj_file_writer_write (writer, "new", 3, &error));
  g_cancellable_cancel (cancellable);
  g_assert_false (adj_file_writer_commit (writer, ADJ_FILE_LASTING, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  adj_file_writer_free (writer);
  assert_holds (fixture->path, "old");
  g_assert_cmpuint (count_files (fixture->folder->path), ==, 1);
}

/* A writer that waits for the lock can be cancelled. */
static void
test_waits (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (AdjFileWriter) first = adj_file_writer_open (fixture->path, NULL, &error);

  g_assert_no_error (error);
  g_cancellable_cancel (cancellable);
  g_assert_null (adj_file_writer_open (fixture->path, cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

#define N_WRITERS 10
#define N_ROUNDS 20

/* Reads a number from the file and writes its successor, repeatedly. */
static gpointer
count_up (gpointer path)
{
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjFileWriter) writer = adj_file_writer_open (path, NULL, &error);
      g_autofree char *text = adj_test_read_file (path, NULL);
      g_autofree char *next = g_strdup_printf ("%d", atoi (text) + 1);

      g_assert_no_error (error);
      g_assert_true (adj_file_writer_write (writer, next, strlen (next), &error));
      g_assert_true (adj_file_writer_commit (writer, ADJ_FILE_CACHE, NULL, &error));
    }
  return NULL;
}

static void
test_one_at_a_time (Fixture *fixture, gconstpointer data)
{
  GThread *threads[N_WRITERS];
  g_autofree char *last = g_strdup_printf ("%d", N_WRITERS * N_ROUNDS);

  write_file (fixture->path, "0");
  for (guint i = 0; i < N_WRITERS; i++)
    threads[i] = g_thread_new ("writer", count_up, fixture->path);
  for (guint i = 0; i < N_WRITERS; i++)
    g_thread_join (threads[i]);
  assert_holds (fixture->path, last);
  g_assert_cmpuint (count_files (fixture->folder->path), ==, 1);
}

/* -- in another process -- */

/* Writes a long run of one letter, then of the next, until it is killed. */
static int
write_for_ever (const char *path)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strnfill (MUCH, 'a');

  while (adj_file_write (path, text, MUCH, ADJ_FILE_LASTING, &error))
    memset (text, text[0] == 'z' ? 'a' : text[0] + 1, MUCH);
  g_printerr ("%s\n", error->message);
  return 2;
}

static int
write_too_much (const char *path)
{
  const struct rlimit limit = { MUCH / 2, MUCH / 2 };
  g_autofree char *much = g_strnfill (MUCH, 'x');
  g_autoptr (GError) error = NULL;

  signal (SIGXFSZ, SIG_IGN);
  setrlimit (RLIMIT_FSIZE, &limit);
  if (adj_file_write (path, much, MUCH, ADJ_FILE_LASTING, &error))
    return 0;
  g_print ("%s", error->message);
  return 2;
}

static gboolean
holds (const char *path, const char *text)
{
  g_autofree char *found = adj_test_read_file (path, NULL);

  return strcmp (found, text) == 0;
}

/* Whether the file is a long run of one letter. */
static gboolean
is_whole (const char *path)
{
  gsize length;
  g_autofree char *found = adj_test_read_file (path, &length);

  return length == MUCH && strspn (found, (char[]){ found[0], '\0' }) == MUCH;
}

static void
kill_one (const char *path, gulong after)
{
  const char *argv[] = { program, "--for-ever", path, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GSubprocess) child =
      g_subprocess_newv (argv, G_SUBPROCESS_FLAGS_STDERR_SILENCE, &error);

  g_assert_no_error (error);
  while (holds (path, "old"))
    g_usleep (100);
  g_usleep (after);
  g_subprocess_send_signal (child, SIGKILL);
  g_subprocess_wait (child, NULL, NULL);
}

/* At any moment the file holds one complete version; the next start, or the next writer, removes
 * the leftovers. */
static void
test_killed (Fixture *fixture, gconstpointer data)
{
  const char *wanted = g_getenv ("ADJ_TEST_KILLS");
  guint n = wanted != NULL ? (guint) atoi (wanted) : 60, n_left = 0;

  for (guint i = 0; i < n; i++)
    {
      write_file (fixture->path, "old");
      kill_one (fixture->path, (gulong) i * 137 % 12000);
      g_assert_true (is_whole (fixture->path));
      n_left += count_files (fixture->folder->path) - 1;
      if (i % 2 == 0)
        adj_file_writer_sweep ();
      else
        replace (fixture->path, "newer");
      g_assert_cmpuint (count_files (fixture->folder->path), ==, 1);
    }
  g_test_message ("%u writers were killed, %u left something behind", n, n_left);
  g_assert_cmpuint (n_left, >, 0);
}

static void
test_too_large (Fixture *fixture, gconstpointer data)
{
  const char *argv[] = { program, "--too-much", fixture->path, NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);

  g_assert_cmpint (process->status, ==, 2);
  g_assert_nonnull (strstr (process->out, "File too large"));
  assert_holds (fixture->path, "old");
  g_assert_cmpuint (count_files (fixture->folder->path), ==, 1);
}

/* A file that a note names but whose name does not have our pattern is not removed. */
static void
test_false_note (Fixture *fixture, gconstpointer data)
{
  g_autofree char *notes =
      g_build_filename (g_get_user_cache_dir (), "adjoint", "unfinished", NULL);
  g_autofree char *note = g_build_filename (notes, "note", NULL);

  g_assert_cmpint (g_mkdir_with_parents (notes, 0700), ==, 0);
  g_assert_cmpint (symlink (fixture->path, note), ==, 0);
  adj_file_writer_sweep ();
  assert_holds (fixture->path, "old");
  g_assert_cmpuint (count_files (notes), ==, 0);
}

/* A file that another process is writing is not removed. */
static void
test_live (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjFileWriter) writer = adj_file_writer_open (fixture->path, NULL, &error);

  g_assert_no_error (error);
  adj_file_writer_sweep ();
  g_assert_true (adj_file_writer_write (writer, "new", 3, &error));
  g_assert_true (adj_file_writer_commit (writer, ADJ_FILE_LASTING, NULL, &error));
  g_assert_no_error (error);
  assert_holds (fixture->path, "new");
}

int
main (int argc, char **argv)
{
  g_autoptr (AdjTestFolder) cache = NULL;

  if (argc == 3 && g_str_equal (argv[1], "--for-ever"))
    return write_for_ever (argv[2]);
  if (argc == 3 && g_str_equal (argv[1], "--too-much"))
    return write_too_much (argv[2]);
  program = argv[0];
  cache = adj_test_folder_new ();
  g_setenv ("XDG_CACHE_HOME", cache->path, TRUE);
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
  g_test_add ("/base/file-writer/" name, Fixture, NULL, set_up, function, tear_down)
  TEST ("keeps-rights", test_rights);
  TEST ("follows-links", test_links);
  TEST ("refuses-what-is-no-file", test_no_files);
  TEST ("leaves-nothing-when-stopped", test_not_committed);
  TEST ("waits-until-told-to-stop", test_waits);
  TEST ("one-at-a-time", test_one_at_a_time);
  TEST ("killed", test_killed);
  TEST ("too-large", test_too_large);
  TEST ("false-note", test_false_note);
  TEST ("live-is-not-swept", test_live);
  return g_test_run ();
}
