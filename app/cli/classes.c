/* SPDX-License-Identifier: MIT */
/* adjoint classes: the classes of opaque objects, with their methods. */

#include <stdio.h>

#include "adj-command.h"
#include "json-members.h"

extern const AdjCommand adj_command_classes;

static void
add_methods (JsonBuilder *builder, const AdjObjectClass *klass)
{
  json_builder_set_member_name (builder, "methods");
  json_builder_begin_array (builder);
  for (guint i = 0; i < klass->n_methods; i++)
    {
      json_builder_begin_object (builder);
      adj_json_add_string (builder, "schema", klass->methods[i].schema);
      adj_json_add_string (builder, "help", klass->methods[i].help);
      adj_json_add_boolean (builder, "pure", klass->methods[i].pure);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
print_json (void)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_object_classes_get_n (); i++)
    {
      const AdjObjectClass *klass = adj_object_classes_get (i);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", klass->name);
      adj_json_add_string (builder, "help", klass->help);
      add_methods (builder, klass);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static void
print_text (void)
{
  for (guint i = 0; i < adj_object_classes_get_n (); i++)
    {
      const AdjObjectClass *klass = adj_object_classes_get (i);

      printf ("%s%s  %s\n", i > 0 ? "\n" : "", klass->name, klass->help);
      for (guint k = 0; k < klass->n_methods; k++)
        printf ("  %-40s %s%s\n", klass->methods[k].schema, klass->methods[k].help,
                klass->methods[k].pure ? "; pure" : "");
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

  if (!adj_command_parse (&adj_command_classes, entries, 0, 0, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  if (json)
    print_json ();
  else
    print_text ();
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_classes = {
  .name = "classes",
  .usage = "",
  .summary = "List the classes of opaque objects and their methods",
  .examples = "adjoint classes\n",
  .run = run,
};
