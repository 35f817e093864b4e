/* SPDX-License-Identifier: MIT */
/* adjoint passes: the table of passes, or one of them. */

#include <stdio.h>

#include "adj-command.h"
#include "json-members.h"

extern const AdjCommand adj_command_passes;

static void
print_json (void)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_passes_get_n (); i++)
    {
      const AdjPass *pass = adj_passes_get (i);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", pass->name);
      if (pass->argument != NULL)
        adj_json_add_string (builder, "argument", pass->argument);
      adj_json_add_string (builder, "summary", pass->summary);
      adj_json_add_string (builder, "explain", pass->explain);
      json_builder_end_object (builder);
    }
  for (guint i = 0; i < adj_partitioners_get_n (); i++)
    {
      const AdjPartitioner *partitioner = adj_partitioners_get (i);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", partitioner->name);
      adj_json_add_boolean (builder, "partitions", TRUE);
      adj_json_add_string (builder, "summary", partitioner->summary);
      adj_json_add_string (builder, "explain", partitioner->explain);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static void
print_list (void)
{
  puts ("PASS");
  for (guint i = 0; i < adj_passes_get_n (); i++)
    {
      const AdjPass *pass = adj_passes_get (i);
      g_autofree char *name = pass->argument != NULL
                                  ? g_strdup_printf ("%s[=%s]", pass->name, pass->argument)
                                  : g_strdup (pass->name);

      printf ("%-34s %s\n", name, pass->summary);
    }
  printf ("\nPARTITIONER\n");
  for (guint i = 0; i < adj_partitioners_get_n (); i++)
    printf ("%-34s %s\n", adj_partitioners_get (i)->name, adj_partitioners_get (i)->summary);
}

static gboolean
explain (const char *name, GError **error)
{
  const AdjPartitioner *partitioner = adj_partitioner_find (name, NULL);
  const AdjPass *pass = partitioner == NULL ? adj_pass_find (name, error) : NULL;

  if (pass != NULL)
    printf ("%s: %s\n\n%s\n", pass->name, pass->summary, pass->explain);
  else if (partitioner != NULL)
    printf ("%s: %s\n\n%s\n", partitioner->name, partitioner->summary, partitioner->explain);
  return pass != NULL || partitioner != NULL;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_passes, entries, 0, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (argc > 1)
    {
      if (!explain (argv[1], error))
        return ADJ_EXIT_BAD_INPUT;
    }
  else if (json)
    print_json ();
  else
    print_list ();
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_passes = {
  .name = "passes",
  .usage = "[PASS|PARTITIONER]",
  .summary = "List the passes of a pipeline and the partitioners, or explain one",
  .examples = "adjoint passes dce\n"
              "adjoint passes min-cut\n",
  .run = run,
};
