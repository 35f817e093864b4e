/* SPDX-License-Identifier: MIT */
/* The rows of the readers' test list (formats/SPEC.md §8) through the command line: damaged but
 * legible files are shown, with remarks that name the place; others are refused with exit status
 * 2 and one line that names the place.  No file crashes the program. */

#include <glib.h>
#include <string.h>

#include "support/adj-test.h"
#include "support/bad-files.h"

static void
assert_mentions (const char *text, const char *what)
{
  if (what != NULL && strstr (text, what) == NULL)
    g_error ("'%s' does not mention '%s'", text, what);
}

/* Expects a single line without control characters that a terminal would obey. */
static void
assert_one_line (const char *text)
{
  gsize length = strlen (text);

  g_assert_cmpuint (length, >, 1);
  for (gsize i = 0; i < length; i++)
    if (g_ascii_iscntrl (text[i]) != (i == length - 1))
      g_error ("not one line: '%s'", text);
}

/* Expects @n files in the folder: nothing was executed and nothing written. */
static void
assert_only (const AdjTestFolder *folder, guint n)
{
  g_autoptr (GDir) dir = g_dir_open (folder->path, 0, NULL);
  guint n_found = 0;

  while (g_dir_read_name (dir) != NULL)
    n_found++;
  g_assert_cmpuint (n_found, ==, n);
}

static void
check (const AdjBadFile *row, const AdjTestProcess *process)
{
  g_test_message ("%d %s", process->status, process->err);
  g_assert_cmpint (process->status, ==, row->status);
  if (row->status == 0)
    {
      assert_mentions (process->out, row->out);
      assert_mentions (process->err, row->remark);
      g_assert_true (row->remark != NULL || *process->err == '\0');
      return;
    }
  assert_one_line (process->err);
  assert_mentions (process->err, row->out);
  g_assert_cmpstr (process->out, ==, "");
}

static void
test_shown (gconstpointer data)
{
  const AdjBadFile *row = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = adj_bad_file_write (row, folder->path);
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "show", path, NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, folder->path);

  check (row, process);
  assert_only (folder, 1);
}

/* Tensors that a graph returns unchanged. */
static void
test_taken (gconstpointer data)
{
  const AdjBadFile *row = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *inputs = adj_bad_file_write (row, folder->path);
  g_autofree char *graph = g_build_filename (folder->path, "g.txt", NULL);
  g_autofree char *text = adj_bad_file_taker (row);
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), "run", graph, "--inputs", inputs, NULL };
  g_autoptr (AdjTestProcess) process = NULL;

  g_assert_true (g_file_set_contents (graph, text, -1, NULL));
  process = adj_test_spawn (argv, NULL, folder->path);
  check (row, process);
  assert_only (folder, 2);
}

static void
add_list (const AdjBadList *list, GTestDataFunc test)
{
  for (guint i = 0; i < list->n; i++)
    {
      g_autofree char *row = g_strdelimit (g_strdup (list->files[i].what), " :'.", '-');
      g_autofree char *path = g_strdup_printf ("/cli/bad-files/%s/%s", list->name, row);

      g_test_add_data_func (path, &list->files[i], test);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; adj_bad_lists[i] != NULL; i++)
    add_list (adj_bad_lists[i], test_shown);
  add_list (&adj_bad_tensors, test_taken);
  add_list (&adj_bad_pickles, test_taken);
  return g_test_run ();
}
