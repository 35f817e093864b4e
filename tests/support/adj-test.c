/* SPDX-License-Identifier: MIT */
/* Shared by all tests: bundled files, processes, temporary folders, goldens. */

#include "support/adj-test.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <unistd.h>

/**
 * adj_test_data_path:
 * @name: path below data/
 *
 * Returns: (transfer full): the path of a bundled file.
 */
char *
adj_test_data_path (const char *name)
{
  const char *data = g_getenv ("ADJ_TEST_DATA");

  if (data == NULL)
    g_error ("ADJ_TEST_DATA is not set: run the tests with meson test");

  return g_build_filename (data, name, NULL);
}

/**
 * adj_test_read_file:
 * @path: a file that must be there
 * @length: (out) (optional): its size in bytes
 *
 * Returns: (transfer full): the contents and a NUL.
 */
char *
adj_test_read_file (const char *path, gsize *length)
{
  g_autoptr (GError) error = NULL;
  char *contents = NULL;

  g_file_get_contents (path, &contents, length, &error);
  g_assert_no_error (error);

  return contents;
}

char *
adj_test_read_packed (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GFileInputStream) packed = g_file_read (file, NULL, NULL);
  g_autoptr (GZlibDecompressor) unpack = g_zlib_decompressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP);
  g_autoptr (GInputStream) stream = NULL;
  g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();

  g_assert_nonnull (packed);
  stream = g_converter_input_stream_new (G_INPUT_STREAM (packed), G_CONVERTER (unpack));
  g_assert_cmpint (g_output_stream_splice (out, stream, 0, NULL, NULL), >, 0);
  g_assert_true (g_output_stream_write_all (out, "", 1, NULL, NULL, NULL));
  g_assert_true (g_output_stream_close (out, NULL, NULL));
  return g_memory_output_stream_steal_data (G_MEMORY_OUTPUT_STREAM (out));
}

static char *
bytes_to_string (GBytes *bytes, gsize *length)
{
  gsize size = 0;
  const char *data = bytes ? g_bytes_get_data (bytes, &size) : NULL;
  char *string = g_malloc (size + 1);

  if (size > 0)
    memcpy (string, data, size);
  string[size] = '\0';
  *length = size;

  return string;
}

/**
 * adj_test_spawn:
 * @argv: (array zero-terminated=1): the program and its arguments
 * @input: (nullable): what it reads from stdin
 * @directory: (nullable): where it runs
 *
 * Runs a program to its end.
 *
 * Returns: (transfer full): what it said and how it ended.
 */
AdjTestProcess *
adj_test_spawn (const char *const *argv, const char *input, const char *directory)
{
  g_autoptr (GSubprocessLauncher) launcher = NULL;
  g_autoptr (GSubprocess) child = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) in = g_bytes_new (input ? input : "", input ? strlen (input) : 0);
  g_autoptr (GBytes) out = NULL;
  g_autoptr (GBytes) err = NULL;
  AdjTestProcess *process = g_new0 (AdjTestProcess, 1);

  launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                 G_SUBPROCESS_FLAGS_STDERR_PIPE);
  if (directory)
    g_subprocess_launcher_set_cwd (launcher, directory);
  child = g_subprocess_launcher_spawnv (launcher, argv, &error);
  g_assert_no_error (error);
  g_subprocess_communicate (child, in, NULL, &out, &err, &error);
  g_assert_no_error (error);

  if (g_subprocess_get_if_exited (child))
    process->status = g_subprocess_get_exit_status (child);
  else
    process->status = -g_subprocess_get_term_sig (child);
  process->out = bytes_to_string (out, &process->out_length);
  process->err = bytes_to_string (err, &process->err_length);

  return process;
}

void
adj_test_process_free (AdjTestProcess *process)
{
  g_free (process->out);
  g_free (process->err);
  g_free (process);
}

/* -- folders -- */

#define MAX_FOLDERS 64

static char *folders[MAX_FOLDERS]; /* folders that exist now */

/* When a test fails or is killed, removes empty folders only; the contents of others may explain
 * the failure. */
static void
on_death (int number)
{
  for (guint i = 0; i < MAX_FOLDERS; i++)
    if (folders[i] != NULL)
      rmdir (folders[i]);
  raise (number);
}

static void
remember_folder (char *path)
{
  static const int deaths[] = { SIGABRT, SIGTRAP, SIGTERM, SIGINT };
  static gboolean is_watching;
  struct sigaction action = { .sa_handler = on_death, .sa_flags = SA_RESETHAND | SA_NODEFER };

  for (guint i = 0; i < G_N_ELEMENTS (deaths) && !is_watching; i++)
    sigaction (deaths[i], &action, NULL);
  is_watching = TRUE;
  for (guint i = 0; i < MAX_FOLDERS; i++)
    if (folders[i] == NULL)
      {
        folders[i] = path;
        return;
      }
}

static void
forget_folder (const char *path)
{
  for (guint i = 0; i < MAX_FOLDERS; i++)
    if (folders[i] == path)
      folders[i] = NULL;
}

AdjTestFolder *
adj_test_folder_new (void)
{
  g_autoptr (GError) error = NULL;
  AdjTestFolder *folder = g_new0 (AdjTestFolder, 1);

  folder->path = g_dir_make_tmp ("adjoint-XXXXXX", &error);
  g_assert_no_error (error);
  remember_folder (folder->path);

  return folder;
}

static void
remove_tree (const char *path)
{
  if (g_file_test (path, G_FILE_TEST_IS_DIR) && !g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    {
      g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
      const char *name;

      while (dir && (name = g_dir_read_name (dir)))
        {
          g_autofree char *child = g_build_filename (path, name, NULL);

          remove_tree (child);
        }
    }
  g_assert_no_errno (g_remove (path));
}

void
adj_test_folder_free (AdjTestFolder *folder)
{
  remove_tree (folder->path);
  forget_folder (folder->path);
  g_free (folder->path);
  g_free (folder);
}

static gboolean
is_blessed (const char *name)
{
  const char *pattern = g_getenv ("ADJ_BLESS");

  return pattern && g_regex_match_simple (pattern, name, 0, 0);
}

/**
 * adj_test_check_golden:
 * @name: path of the expected text below tests/, for instance "cli/transcripts/show.txt"
 * @got: what the code under test made
 *
 * Fails the test unless @got is what the file holds.  When @name matches the regular expression
 * in ADJ_BLESS the file is written instead, for a human to review.
 */
void
adj_test_check_golden (const char *name, const char *got)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, name, NULL);
  g_autofree char *expected = NULL;
  g_autoptr (GError) error = NULL;

  if (is_blessed (name))
    {
      g_file_set_contents (path, got, -1, &error);
      g_assert_no_error (error);
      return;
    }

  g_file_get_contents (path, &expected, NULL, &error);
  g_assert_no_error (error);
  if (g_strcmp0 (expected, got) != 0)
    g_test_fail_printf ("%s differs; got:\n%s", name, got);
}
