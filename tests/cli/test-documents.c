/* SPDX-License-Identifier: MIT */
/* The man page, the completion and the README agree with the program's own help. */

#include <string.h>

#include "support/adj-test.h"

static char *
adjoint (const char *command, const char *option)
{
  const char *argv[] = { g_getenv ("ADJ_PROGRAM"), command, option, NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);

  g_assert_cmpint (process->status, ==, 0);
  return g_strdup (process->out);
}

/* Returns every match of the first group of @pattern in @text. */
static GPtrArray *
find_all (const char *pattern, const char *text)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GRegex) regex = g_regex_new (pattern, G_REGEX_MULTILINE, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;

  g_assert_nonnull (regex);
  for (g_regex_match (regex, text, 0, &match); g_match_info_matches (match);
       g_match_info_next (match, NULL))
    g_ptr_array_add (found, g_match_info_fetch (match, 1));
  return found;
}

static GPtrArray *
list_commands (void)
{
  g_autofree char *help = adjoint ("--help", NULL);
  GPtrArray *commands = find_all ("^  ([a-z]+) ", help);

  g_assert_cmpuint (commands->len, >=, 13);
  return commands;
}

/* Reads the man page as it is installed, including the generated help. */
static char *
read_man_page (void)
{
  g_autofree char *folder = g_path_get_dirname (g_getenv ("ADJ_PROGRAM"));
  g_autofree char *path = g_build_filename (folder, "..", "data", "adjoint.1", NULL);

  return adj_test_read_file (path, NULL);
}

/* Returns the paragraph of a command, from its heading to the next. */
static char *
man_paragraph (const char *page, const char *command)
{
  g_autofree char *pattern =
      g_strdup_printf ("^\\.TP\n\\.BR? %s\\b((?:.*\n(?!\\.TP|\\.SH|\\.PP))*)", command);
  g_autoptr (GPtrArray) found = find_all (pattern, page);

  if (found->len != 1)
    g_error ("the man page has %u paragraphs for '%s'", found->len, command);
  return g_strdup (found->pdata[0]);
}

/* Whether @option is common to all commands and described once. */
static gboolean
is_common (const char *option)
{
  return strcmp (option, "help") == 0 || strcmp (option, "json") == 0 ||
         strcmp (option, "graph") == 0 || strcmp (option, "plugin") == 0;
}

static void
test_man_page (void)
{
  g_autofree char *page = read_man_page ();
  g_autoptr (GPtrArray) commands = list_commands ();

  for (guint i = 0; i < commands->len; i++)
    {
      const char *command = commands->pdata[i];
      g_autofree char *help = adjoint (command, "--help");
      g_autofree char *paragraph = man_paragraph (page, command);
      g_autoptr (GPtrArray) options = find_all ("--([a-z0-9-]+)", help);

      for (guint k = 0; k < options->len; k++)
        {
          g_auto (GStrv) words = g_strsplit (options->pdata[k], "-", -1);
          g_autofree char *dashed = g_strjoinv ("\\-", words);
          g_autofree char *option = g_strconcat ("\\-\\-", dashed, NULL);

          if (strstr (is_common (options->pdata[k]) ? page : paragraph, option) == NULL)
            g_error ("the man page does not say what '%s --%s' does", command,
                     (char *) options->pdata[k]);
        }
    }
}

/* The man page names every pass and partitioner with its arguments. */
static void
test_man_passes (void)
{
  g_autofree char *page = read_man_page ();
  g_autofree char *dashed = man_paragraph (page, "passes");
  g_auto (GStrv) parts = g_strsplit (dashed, "\\-", -1);
  g_autofree char *paragraph = g_strjoinv ("-", parts);
  g_autofree char *json = adjoint ("passes", "--json");
  g_autoptr (GPtrArray) words = find_all ("\"(?:name|argument)\" : \"([^\"]+)\"", json);

  g_assert_cmpuint (words->len, >, 10);
  for (guint i = 0; i < words->len; i++)
    {
      g_auto (GStrv) choices = g_strsplit (words->pdata[i], "|", -1);

      for (guint k = 0; choices[k] != NULL; k++)
        if (strstr (paragraph, choices[k]) == NULL)
          g_error ("the man page does not say '%s' of passes", choices[k]);
    }
}

static void
test_json_everywhere (void)
{
  g_autoptr (GPtrArray) commands = list_commands ();

  for (guint i = 0; i < commands->len; i++)
    {
      g_autofree char *help = adjoint (commands->pdata[i], "--help");

      if (strcmp (commands->pdata[i], "open") != 0 && strstr (help, "--json") == NULL)
        g_error ("'%s' has no --json", (char *) commands->pdata[i]);
    }
}

/* Returns bash's completions of @words, whose last word is incomplete. */
static char *
complete (const char *words)
{
  g_autofree char *path = adj_test_data_path ("completions/adjoint");
  g_autofree char *folder = g_path_get_dirname (g_getenv ("ADJ_PROGRAM"));
  g_autofree char *script = g_strdup_printf (
      "PATH='%s':$PATH; . '%s'; COMP_WORDS=(%s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); "
      "compopt () { :; }; _adjoint; printf '%%s\\n' \"${COMPREPLY[@]}\"",
      folder, path, words);
  const char *argv[] = { "bash", "-c", script, NULL };
  g_autoptr (AdjTestProcess) process = adj_test_spawn (argv, NULL, NULL);

  g_assert_cmpint (process->status, ==, 0);
  return g_strconcat ("\n", process->out, NULL);
}

static void
assert_offers (const char *offers, const char *what)
{
  g_autofree char *line = g_strconcat ("\n", what, "\n", NULL);

  if (strstr (offers, line) == NULL)
    g_error ("completion does not offer '%s' but:%s", what, offers);
}

static void
test_completion (void)
{
  g_autoptr (GPtrArray) commands = list_commands ();
  g_autofree char *offered = complete ("adjoint ''");
  g_autofree char *graphs = adj_test_data_path ("graphs/mlp.adjoint");
  g_autofree char *words = g_strdup_printf ("adjoint show '%s#0-0-j'", graphs);
  g_autofree char *expected = g_strconcat (graphs, "#0-0-joint", NULL);
  g_autofree char *ids = complete (words);
  g_autofree char *executors = complete ("adjoint run mlp.adjoint --executor ''");

  for (guint i = 0; i < commands->len; i++)
    {
      g_autofree char *help = adjoint (commands->pdata[i], "--help");
      g_autofree char *line = g_strdup_printf ("adjoint %s --", (char *) commands->pdata[i]);
      g_autofree char *options_offered = complete (line);
      g_autoptr (GPtrArray) options = find_all ("^  (?:-[a-z], )?(--[a-z0-9-]+)", help);

      assert_offers (offered, commands->pdata[i]);
      for (guint k = 0; k < options->len; k++)
        assert_offers (options_offered, options->pdata[k]);
    }
  assert_offers (ids, expected);
  assert_offers (executors, "interpreter");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cli/documents/man-page", test_man_page);
  g_test_add_func ("/cli/documents/man-passes", test_man_passes);
  g_test_add_func ("/cli/documents/json-everywhere", test_json_everywhere);
  g_test_add_func ("/cli/documents/completion", test_completion);
  return g_test_run ();
}
