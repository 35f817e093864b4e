/* SPDX-License-Identifier: MIT */
/* Every file of transcripts/ is a session: lines that begin with "$ adjoint" and below each what
 * the program answers.  The commands run in the data folder; ADJ_BLESS rewrites the answers. */

#include <glib.h>
#include <string.h>

#include "support/adj-test.h"

static void
answer (const char *command, GString *out)
{
  g_autofree char *data = adj_test_data_path ("");
  g_auto (GStrv) words = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjTestProcess) process = NULL;

  g_shell_parse_argv (command, NULL, &words, &error);
  g_assert_no_error (error);
  g_free (words[0]);
  words[0] = g_strdup (g_getenv ("ADJ_PROGRAM"));
  process = adj_test_spawn ((const char *const *) words, NULL, data);
  g_string_append_printf (out, "$ %s\n%s%s", command, process->out, process->err);
  if (process->status != 0)
    g_string_append_printf (out, "[%d]\n", process->status);
}

static void
test_transcript (gconstpointer name)
{
  g_autofree char *place = g_build_filename ("cli", "transcripts", name, NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, place, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GString) got = g_string_new (NULL);

  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "$ adjoint"))
      answer (lines[i] + strlen ("$ "), got);
  g_assert_cmpuint (got->len, >, 0);
  adj_test_check_golden (place, got->str);
}

int
main (int argc, char **argv)
{
  g_autofree char *folder = NULL;
  g_autoptr (GDir) dir = NULL;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  const char *name;

  g_test_init (&argc, &argv, NULL);
  folder = g_test_build_filename (G_TEST_DIST, "cli", "transcripts", NULL);
  dir = g_dir_open (folder, 0, NULL);
  while ((name = g_dir_read_name (dir)) != NULL)
    if (g_str_has_suffix (name, ".txt"))
      g_ptr_array_add (names, g_strdup (name));
  g_assert_cmpuint (names->len, >, 0);
  for (guint i = 0; i < names->len; i++)
    {
      g_autofree char *path = g_strdup_printf ("/cli/transcripts/%s", (char *) names->pdata[i]);

      g_test_add_data_func (path, names->pdata[i], test_transcript);
    }
  return g_test_run ();
}
