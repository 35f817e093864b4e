/* SPDX-License-Identifier: MIT */
/* Each file of transcripts/ is a session: lines that begin with "$ adjoint", each followed by
 * the program's output, with # for times.  The commands run in the data folder; ADJ_BLESS
 * rewrites the files.  The outputs shown in core/README.md are parts of the sessions. */

#include <glib.h>
#include <string.h>
#include <unistd.h>

#include "support/adj-test.h"

static AdjTestProcess *
run (const char *command, const char *folder)
{
  g_auto (GStrv) words = NULL;
  g_autoptr (GError) error = NULL;

  g_shell_parse_argv (command, NULL, &words, &error);
  g_assert_no_error (error);
  g_free (words[0]);
  words[0] = g_strdup (g_getenv ("ADJ_PROGRAM"));
  return adj_test_spawn ((const char *const *) words, NULL, folder);
}

/* (transfer full): @text with each measured time, of any width, replaced by #. */
static char *
mask_times (const char *text)
{
  g_autoptr (GRegex) times = g_regex_new (
      "(?<=_[mn]s\" : )[\\d.e-]+|(?<= ) *[\\d.]+(?= ms\\b)|(?<=least |first |CPU )[\\d.]+"
      "|(?<=\\[)[\\d.]+ – [\\d.]+(?=\\])",
      0, 0, NULL);

  g_assert_nonnull (times);
  return g_regex_replace_literal (times, text, -1, 0, "#", 0, NULL);
}

static void
answer (const char *command, GString *out)
{
  g_autofree char *data = adj_test_data_path ("");
  g_autoptr (AdjTestProcess) process = run (command, data);
  g_autofree char *answered = mask_times (process->out);

  g_string_append_printf (out, "$ %s\n%s%s", command, answered, process->err);
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

/* -- the example of core/README.md -- */

/* (transfer full): @text with each run of white space replaced by one blank. */
static char *
squeeze (const char *text)
{
  g_autoptr (GRegex) blanks = g_regex_new ("\\s+", 0, 0, NULL);

  return g_strstrip (g_regex_replace_literal (blanks, text, -1, 0, " ", 0, NULL));
}

/* Whether @shown, a line in which "…" marks omissions, occurs in @answer. */
static gboolean
is_shown (const char *answer, const char *shown)
{
  g_autofree char *line = squeeze (shown);
  g_auto (GStrv) parts = g_strsplit (line, "…", -1);

  for (guint i = 0; parts[i] != NULL; i++)
    {
      answer = strstr (answer, parts[i]);
      if (answer == NULL)
        return FALSE;
      answer += strlen (parts[i]);
    }
  return TRUE;
}

/* (transfer full): the squeezed output of @command, run in @folder, which contains data/. */
static char *
print_answer (const char *command, const char *folder)
{
  g_autoptr (AdjTestProcess) process = run (command, folder);

  g_assert_cmpstr (process->err, ==, "");
  g_assert_cmpint (process->status, ==, 0);
  return squeeze (process->out);
}

static void
test_readme (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *data = adj_test_data_path ("");
  g_autofree char *link = g_build_filename (folder->path, "data", NULL);
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "..", "core", "README.md", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *printed = NULL;
  guint n_shown = 0;

  g_assert_no_errno (symlink (data, link));
  for (guint i = 0; lines[i] != NULL; i++)
    if (g_str_has_prefix (lines[i], "    $ adjoint "))
      {
        g_free (printed);
        printed = print_answer (lines[i] + strlen ("    $ "), folder->path);
      }
    else if (printed != NULL && g_str_has_prefix (lines[i], "    "))
      {
        n_shown++;
        if (!is_shown (printed, lines[i]))
          g_test_fail_printf ("core/README.md:%u: this is not printed: %s", i + 1, lines[i]);
      }
    else
      g_clear_pointer (&printed, g_free);
  g_assert_cmpuint (n_shown, >, 0);
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
  g_test_add_func ("/cli/readme", test_readme);
  return g_test_run ();
}
