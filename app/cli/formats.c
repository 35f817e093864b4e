/* SPDX-License-Identifier: MIT */
/* adjoint formats: the table of formats. */

#include <stdio.h>

#include "adj-command.h"
#include "json-members.h"

extern const AdjCommand adj_command_formats;

static void
print_json (void)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_formats_get_n (); i++)
    {
      const AdjFormat *format = adj_formats_get (i);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", format->name);
      adj_json_add_string (builder, "extensions", format->extensions);
      adj_json_add_boolean (builder, "reads", format->load != NULL);
      adj_json_add_boolean (builder, "writes", format->save != NULL);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static void
print_text (void)
{
  printf ("%-12s %-14s %s\n", "FORMAT", "EXTENSIONS", "READS, WRITES");
  for (guint i = 0; i < adj_formats_get_n (); i++)
    {
      const AdjFormat *format = adj_formats_get (i);

      printf ("%-12s %-14s %c%c     %s\n", format->name, format->extensions,
              format->load != NULL ? 'r' : '-', format->save != NULL ? 'w' : '-', format->summary);
    }
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_formats, entries, 0, 0, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (json)
    print_json ();
  else
    print_text ();
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_formats = {
  .name = "formats",
  .usage = "",
  .summary = "List the file formats that can be read and written",
  .examples = "adjoint formats\n",
  .run = run,
};
