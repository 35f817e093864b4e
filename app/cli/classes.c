/* SPDX-License-Identifier: MIT */
/* adjoint classes: the classes of opaque objects, with their methods. */

#include <stdio.h>

#include "adj-command.h"
#include "json-members.h"
#include "plugins.h"

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

/* Classes of the library that are not replaced, then those of plugins. (transfer container) */
static GPtrArray *
list_classes (void)
{
  GPtrArray *list = g_ptr_array_new ();
  const AdjExtensions *brought = plugins_get ();

  for (guint i = 0; i < adj_object_classes_get_n (); i++)
    {
      const AdjObjectClass *klass = adj_object_classes_get (i);

      if (brought == NULL || adj_extensions_find_class (brought, klass->name) == klass)
        g_ptr_array_add (list, (gpointer) klass);
    }
  for (guint i = 0; brought != NULL && i < adj_extensions_get_n_classes (brought); i++)
    g_ptr_array_add (list, (gpointer) adj_extensions_get_class (brought, i));
  return list;
}

static void
print_json (void)
{
  g_autoptr (GPtrArray) list = list_classes ();
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < list->len; i++)
    {
      const AdjObjectClass *klass = list->pdata[i];

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
  g_autoptr (GPtrArray) list = list_classes ();

  for (guint i = 0; i < list->len; i++)
    {
      const AdjObjectClass *klass = list->pdata[i];

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
    PLUGIN_OPTION,
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
