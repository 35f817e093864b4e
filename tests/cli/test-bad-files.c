/* SPDX-License-Identifier: MIT */
/* The rows of the readers' test list (formats §8) as a user meets them: what is damaged but legible
 * is shown, with remarks that say where; what is not is refused with exit 2 and one line that names
 * the place.  No file brings the program down. */

#include <glib.h>
#include <string.h>

#include "support/adj-test.h"
#include "support/bad-files.h"

static AdjTestProcess *
run (const char *command, const char *path)
{
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), command, path, NULL };

  return adj_test_spawn (argv, NULL, NULL);
}

static void
assert_mentions (const AdjBadFile *row, const char *text, const char *what)
{
  if (what != NULL && strstr (text, what) == NULL)
    g_error ("%s: '%s' does not mention '%s'", row->what, text, what);
}

static void
assert_one_line (const AdjBadFile *row, const char *text)
{
  const char *newline = strchr (text, '\n');

  if (newline == NULL || newline[1] != '\0')
    g_error ("%s: not one line: '%s'", row->what, text);
}

static void
test_row (gconstpointer data)
{
  const AdjBadFile *row = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = adj_bad_file_write (row, folder->path);
  g_autoptr (AdjTestProcess) process = NULL;

  process = run ("show", path);
  g_test_message ("%d %s", process->status, process->err);
  g_assert_cmpint (process->status, ==, row->status);
  if (row->status == 0)
    {
      assert_mentions (row, process->out, row->out);
      assert_mentions (row, process->err, row->remark);
      g_assert_true (row->remark != NULL || *process->err == '\0');
      return;
    }
  assert_one_line (row, process->err);
  assert_mentions (row, process->err, row->out);
  g_assert_cmpstr (process->out, ==, "");
}

/* 5: the rules of safetensors, met by 'run --inputs'. */
static void
test_tensors (void)
{
  guint n;
  const AdjBadFile *tensors = adj_bad_tensors_get (&n);

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
      g_autofree char *inputs = adj_bad_file_write (&tensors[i], folder->path);
      g_autofree char *graph = g_build_filename (folder->path, "g.txt", NULL);
      const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "run", graph, "--inputs", inputs, NULL };
      g_autoptr (AdjTestProcess) process = NULL;

      g_file_set_contents (graph, adj_bad_file_taker (), -1, NULL);
      process = adj_test_spawn (argv, NULL, NULL);
      g_test_message ("%s: %s", tensors[i].what, process->err);
      g_assert_cmpint (process->status, ==, tensors[i].status);
      assert_one_line (&tensors[i], process->err);
      assert_mentions (&tensors[i], process->err, tensors[i].out);
    }
}

int
main (int argc, char **argv)
{
  guint n;
  const AdjBadFile *rows = adj_bad_files_get (&n);

  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strconcat ("/cli/bad-files/", rows[i].what, NULL);

      g_test_add_data_func (g_strdelimit (path, " :'.", '-'), &rows[i], test_row);
    }
  g_test_add_func ("/cli/bad-files/safetensors", test_tensors);
  return g_test_run ();
}
