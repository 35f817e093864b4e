/* SPDX-License-Identifier: MIT */
/* Whatever writes a file may be killed at any moment, or meet another writer or somebody who writes
 * what it reads: nothing is lost and, once a program has started again, nothing is left.
 *
 * ADJ_TEST_KILLS says how many writers are killed. */

#include <gio/gio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "formats/adj-format.h"
#include "support/adj-test.h"
#include "support/large-bundle.h"
#include "support/spoiled-file.h"

typedef struct
{
  AdjTestFolder *folder;
} Fixture;

static void
set_up (Fixture *fixture, gconstpointer data)
{
  fixture->folder = adj_test_folder_new ();
}

static void
tear_down (Fixture *fixture, gconstpointer data)
{
  adj_test_folder_free (fixture->folder);
}

static char *
path_of (const Fixture *fixture, const char *name)
{
  return g_build_filename (fixture->folder->path, name, NULL);
}

static void
put_capture (const Fixture *fixture, const char *capture, const char *name)
{
  g_autofree char *from = adj_test_data_path (capture);
  g_autofree char *to = path_of (fixture, name);
  gsize length;
  g_autofree char *bytes = adj_test_read_file (from, &length);

  g_assert_true (g_file_set_contents (to, bytes, (gssize) length, NULL));
}

/* Starts "adjoint ARGUMENTS" in the folder. */
static GSubprocess *
start (const Fixture *fixture, const char *arguments)
{
  g_autoptr (GSubprocessLauncher) launcher = g_subprocess_launcher_new (
      G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
  g_autofree char *line = g_strdup_printf ("%s %s", g_getenv ("ADJ_PROGRAM"), arguments);
  g_auto (GStrv) argv = g_strsplit (line, " ", -1);
  g_autoptr (GError) error = NULL;
  GSubprocess *child;

  g_subprocess_launcher_set_cwd (launcher, fixture->folder->path);
  child = g_subprocess_launcher_spawnv (launcher, (const char *const *) argv, &error);
  g_assert_no_error (error);
  return child;
}

/* Its exit status; of one that a signal ended, minus that.  @err: (out) (transfer full) */
static int
finish (GSubprocess *child, char **err)
{
  g_autoptr (GBytes) bytes = NULL;
  gsize length;
  const char *text;

  g_assert_true (g_subprocess_communicate (child, NULL, NULL, NULL, &bytes, NULL));
  text = g_bytes_get_data (bytes, &length);
  *err = g_strndup (text != NULL ? text : "", length);
  return g_subprocess_get_if_exited (child) ? g_subprocess_get_exit_status (child)
                                            : -g_subprocess_get_term_sig (child);
}

static void
run (const Fixture *fixture, const char *arguments)
{
  g_autoptr (GSubprocess) child = start (fixture, arguments);
  g_autofree char *err = NULL;
  int status = finish (child, &err);

  if (status != 0)
    g_error ("%s: %d %s", arguments, status, err);
}

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* (transfer full): the names in the folder, sorted. */
static char *
list (const Fixture *fixture)
{
  g_autoptr (GDir) dir = g_dir_open (fixture->folder->path, 0, NULL);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  while ((name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  g_ptr_array_sort (names, by_name);
  g_ptr_array_add (names, NULL);
  return g_strjoinv (" ", (char **) names->pdata);
}

static char *
checksum_of (const Fixture *fixture, const char *name)
{
  g_autofree char *path = path_of (fixture, name);
  g_autofree char *bytes = NULL;
  gsize length;

  return g_file_get_contents (path, &bytes, &length, NULL)
             ? g_compute_checksum_for_data (G_CHECKSUM_MD5, (const guchar *) bytes, length)
             : NULL;
}

/* -- killed -- */

static const struct
{
  const char *arguments, *file;
  gboolean is_capture; /* what it writes is told by opening it, else by its bytes */
} writers[] = {
  { "run m.adjoint#joint --keep it", "m.adjoint", TRUE },
  { "run m.adjoint#joint --outputs o.safetensors", "o.safetensors", FALSE },
  { "run m.adjoint#joint --values v.safetensors", "v.safetensors", FALSE },
  { "convert g.adjoint m.adjoint", "m.adjoint", FALSE },
  { "convert m.adjoint#joint t.txt", "t.txt", FALSE },
  { "trace m.adjoint#dynamo -o m.adjoint", "m.adjoint", TRUE },
  { "render m.adjoint#joint -o p.svg", "p.svg", FALSE },
  { "render m.adjoint#joint -o p.png", "p.png", FALSE },
  { "render m.adjoint#joint -o p.pdf", "p.pdf", TRUE },
  { "report m.adjoint#joint --no-run -o r.html", "r.html", FALSE },
};

#define ALL "g.adjoint m.adjoint o.safetensors p.pdf p.png p.svg r.html t.txt v.safetensors"

static void
put_files (const Fixture *fixture)
{
  put_capture (fixture, "graphs/mlp.adjoint", "m.adjoint");
  put_capture (fixture, "graphs/gpt2.adjoint", "g.adjoint");
  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    if (strcmp (writers[i].file, "m.adjoint") != 0)
      {
        g_autofree char *path = path_of (fixture, writers[i].file);

        g_assert_true (g_file_set_contents (path, "old", -1, NULL));
      }
}

/* Whether what is there is what was, or what was to come. */
static gboolean
is_whole (const Fixture *fixture, guint writer, const char *before, const char *after)
{
  g_autofree char *sum = checksum_of (fixture, writers[writer].file);
  g_autofree char *path = path_of (fixture, writers[writer].file);
  g_autofree char *bytes = NULL;
  gsize length;

  if (g_strcmp0 (sum, before) == 0 || g_strcmp0 (sum, after) == 0)
    return TRUE;
  if (!writers[writer].is_capture)
    return FALSE;
  /* Dates differ. */
  if (g_str_has_suffix (path, ".adjoint"))
    {
      run (fixture, "show m.adjoint");
      return TRUE;
    }
  bytes = adj_test_read_file (path, &length);
  return length > 100 && memmem (bytes + length - 16, 16, "%%EOF", 5) != NULL;
}

static gint64
measure (const Fixture *fixture, const char *arguments)
{
  gint64 begin = g_get_monotonic_time ();

  run (fixture, arguments);
  return g_get_monotonic_time () - begin;
}

static void
kill_one (const Fixture *fixture, const char *arguments, gint64 after)
{
  g_autoptr (GSubprocess) child = start (fixture, arguments);

  g_usleep ((gulong) after);
  g_subprocess_send_signal (child, SIGKILL);
  g_subprocess_wait (child, NULL, NULL);
}

/* @n of one writer, at moments that are spread over its run. */
static guint
kill_writer (const Fixture *fixture, guint writer, guint n)
{
  const char *arguments = writers[writer].arguments;
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  gint64 time;
  guint n_left = 0;

  put_files (fixture);
  before = checksum_of (fixture, writers[writer].file);
  time = measure (fixture, arguments);
  after = checksum_of (fixture, writers[writer].file);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *then = NULL;
      g_autofree char *now = NULL;

      put_files (fixture);
      kill_one (fixture, arguments, time * (i + 1) / n);
      g_assert_true (is_whole (fixture, writer, before, after));
      then = list (fixture);
      n_left += strcmp (then, ALL) != 0;
      run (fixture, "formats");
      now = list (fixture);
      g_assert_cmpstr (now, ==, ALL);
    }
  return n_left;
}

static void
test_killed (Fixture *fixture, gconstpointer data)
{
  const char *wanted = g_getenv ("ADJ_TEST_KILLS");
  guint n = (wanted != NULL ? (guint) atoi (wanted) : 60) / G_N_ELEMENTS (writers), n_left = 0;

  for (guint i = 0; i < G_N_ELEMENTS (writers); i++)
    n_left += kill_writer (fixture, i, n);
  g_test_message ("%u writers were killed, %u left something until the next start",
                  n * (guint) G_N_ELEMENTS (writers), n_left);
}

static char *
show_folder (const Fixture *fixture)
{
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "show", "folder", NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, fixture->folder->path);

  if (process->status != 0)
    g_error ("show folder: %d %s", process->status, process->err);
  return g_steal_pointer (&process->out);
}

/* A folder holds what it held or what it was to hold, though it is many files. */
static void
test_folder_killed (Fixture *fixture, gconstpointer data)
{
  const char *wanted = g_getenv ("ADJ_TEST_KILLS");
  guint n = (wanted != NULL ? (guint) atoi (wanted) : 60) / 3, n_new = 0;
  g_autofree char *inside = path_of (fixture, "folder/unfinished.adjoint");
  g_autofree char *before = NULL;
  g_autofree char *after = NULL;
  gint64 time;

  put_capture (fixture, "graphs/mlp.adjoint", "m.adjoint");
  put_capture (fixture, "graphs/gpt2.adjoint", "g.adjoint");
  run (fixture, "convert m.adjoint folder/");
  before = show_folder (fixture);
  time = measure (fixture, "convert g.adjoint folder/");
  after = show_folder (fixture);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *now = NULL;

      run (fixture, "convert m.adjoint folder/");
      g_assert_false (g_file_test (inside, G_FILE_TEST_EXISTS));
      kill_one (fixture, "convert g.adjoint folder/", time * (i + 1) / n);
      now = show_folder (fixture);
      if (strcmp (now, before) != 0)
        g_assert_cmpstr (now, ==, after);
      n_new += strcmp (now, after) == 0;
    }
  g_test_message ("of %u folders whose writer was killed %u are new", n, n_new);
}

/* -- at the same time -- */

/* @file: an archive or a folder.  Whoever comes upon another writer waits, when it reads as when it
 * writes. */
static void
write_together (const Fixture *fixture, guint n, const char *file)
{
  g_autoptr (GPtrArray) children = g_ptr_array_new_with_free_func (g_object_unref);
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "show", file, NULL };
  g_autoptr (AdjTestProcess) shown = NULL;

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *line = g_strdup_printf ("run %s#joint --keep run-%u-", file, i);

      g_ptr_array_add (children, start (fixture, line));
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *err = NULL;
      int status = finish (children->pdata[i], &err);

      if (status != 0)
        g_error ("writer %u: %d %s", i, status, err);
    }
  shown = adj_test_spawn (argv, NULL, fixture->folder->path);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = g_strdup_printf ("run-%u-", i);

      if (strstr (shown->out, name) == NULL)
        g_error ("%s is lost: %s%s", name, shown->out, shown->err);
    }
}

static void
test_together (Fixture *fixture, gconstpointer data)
{
  g_autofree char *left = NULL;

  for (guint i = 0; i < 5; i++)
    {
      put_capture (fixture, "graphs/mlp.adjoint", "m.adjoint");
      write_together (fixture, 2, "m.adjoint");
    }
  put_capture (fixture, "graphs/mlp.adjoint", "m.adjoint");
  write_together (fixture, 10, "m.adjoint");
  run (fixture, "convert m.adjoint folder/");
  for (guint i = 0; i < 3; i++)
    write_together (fixture, 10, "folder");
  left = list (fixture);
  g_assert_cmpstr (left, ==, "folder m.adjoint");
}

/* The manifest stands for its folder. */
static void
test_manifest (Fixture *fixture, gconstpointer data)
{
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "show", "folder", NULL };
  g_autoptr (AdjTestProcess) shown = NULL;

  put_capture (fixture, "graphs/mlp.adjoint", "m.adjoint");
  run (fixture, "convert m.adjoint folder/");
  run (fixture, "run folder/adjoint.json#joint --keep kept-by-manifest");
  shown = adj_test_spawn (argv, NULL, fixture->folder->path);
  g_assert_cmpint (shown->status, ==, 0);
  g_assert_nonnull (strstr (shown->out, "kept-by-manifest"));
}

/* A file that is not there yet begins as a copy, and is added to. */
static void
test_into_together (Fixture *fixture, gconstpointer data)
{
  g_autoptr (GSubprocess) first = NULL;
  g_autoptr (GSubprocess) second = NULL;
  g_autofree char *one = NULL;
  g_autofree char *two = NULL;
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "show", "k.adjoint", NULL };
  g_autoptr (AdjTestProcess) shown = NULL;

  put_capture (fixture, "graphs/mlp.adjoint", "m.adjoint");
  first = start (fixture, "run m.adjoint#joint --keep first --into k.adjoint");
  second = start (fixture, "run m.adjoint#joint --keep second --into k.adjoint");
  g_assert_cmpint (finish (first, &one), ==, 0);
  g_assert_cmpint (finish (second, &two), ==, 0);
  shown = adj_test_spawn (argv, NULL, fixture->folder->path);
  g_assert_nonnull (strstr (shown->out, "first"));
  g_assert_nonnull (strstr (shown->out, "second"));
}

/* -- what is read changes -- */

static void
assert_says_one_line (int status, const char *err)
{
  g_test_message ("%d %s", status, err);
  g_assert_cmpint (status, >=, 0);
  g_assert_cmpint (status, <=, 3);
  if (status >= 2)
    g_assert_true (*err != '\0' && strchr (err, '\n') == err + strlen (err) - 1);
}

static void
read_spoiled (const Fixture *fixture, const char *file, const char *arguments, guint n)
{
  g_autofree char *path = path_of (fixture, file);
  g_autoptr (AdjTestSpoiledFile) spoiled = adj_test_spoil_file (path);
  guint n_read = 0;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GSubprocess) child = start (fixture, arguments);
      g_autofree char *err = NULL;
      int status = finish (child, &err);

      assert_says_one_line (status, err);
      n_read += status < 2;
    }
  g_test_message ("%u of %u readings of %s were whole", n_read, n, file);
}

#define LOG "graphs/torch-trace/dedicated_log_torch_trace_training.log"

static void
test_spoiled (Fixture *fixture, gconstpointer data)
{
  static const char record[] = "\nV0302 09:15:01.004000 4711 x.py:27] {\"a\": 1}\n";
  g_autofree char *path = path_of (fixture, "large.adjoint");
  g_autofree char *log = path_of (fixture, "large.log");
  g_autofree char *known = adj_test_data_path (LOG);
  g_autofree char *graphs = adj_test_read_file (known, NULL);
  g_autofree char *lines = g_strnfill (20 << 20, 'x');
  g_autoptr (AdjBundle) bundle = adj_test_large_bundle (20 << 20);
  g_autoptr (GError) error = NULL;
  guint n = g_getenv ("ADJ_TEST_KILLS") != NULL ? 75 : 10;

  adj_format_find ("adjoint", NULL)->save (bundle, path, NULL, NULL, &error);
  g_assert_no_error (error);
  for (gsize i = 0; i < 20 << 20; i += 4096)
    memcpy (lines + i, record, strlen (record));
  memcpy (lines, graphs, strlen (graphs));
  g_assert_true (g_file_set_contents (log, lines, 20 << 20, NULL));
  read_spoiled (fixture, "large.adjoint", "show large.adjoint", n);
  read_spoiled (fixture, "large.adjoint", "run large.adjoint", n);
  read_spoiled (fixture, "large.log", "show large.log", n);
}

int
main (int argc, char **argv)
{
  g_autoptr (AdjTestFolder) cache = adj_test_folder_new ();

  g_setenv ("XDG_CACHE_HOME", cache->path, TRUE);
  g_test_init (&argc, &argv, NULL);
#define TEST(name, function)                                                                       \
  g_test_add ("/cli/writers/" name, Fixture, NULL, set_up, function, tear_down)
  TEST ("killed", test_killed);
  TEST ("folder-killed", test_folder_killed);
  TEST ("together", test_together);
  TEST ("manifest", test_manifest);
  TEST ("into-together", test_into_together);
  TEST ("spoiled", test_spoiled);
  return g_test_run ();
}
