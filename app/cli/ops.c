/* SPDX-License-Identifier: MIT */
/* adjoint ops: the table of operators, or one of them. */

#include <stdio.h>
#include <string.h>

#include "adj-command.h"
#include "call/adj-op.h"
#include "interpreter/adj-interpreter.h"
#include "json-members.h"
#include "ops/adj-op-table.h"

extern const AdjCommand adj_command_ops;

static void
print_one (const AdjOp *op)
{
  const AdjSchema *schema = adj_op_get_schema (op);

  printf ("%s\n  %s\n", schema->target, op->help);
  printf ("  schema     %s\n", op->schema);
  if (op->expr != NULL)
    printf ("  computes   %s\n", op->expr);
  if (op->grad != NULL)
    printf ("  gradient   %s\n", op->grad);
  if (op->decompose != NULL)
    printf ("  decomposes %s\n", op->decompose);
}

static void
print_json (const char *wanted)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      const AdjSchema *schema = adj_op_get_schema (op);

      if (wanted != NULL && strstr (schema->target, wanted) == NULL)
        continue;
      json_builder_begin_object (builder);
      adj_json_add_string_if_any (builder, "target", schema->target);
      adj_json_add_string_if_any (builder, "schema", op->schema);
      adj_json_add_string_if_any (builder, "help", op->help);
      adj_json_add_string_if_any (builder, "computes", op->expr);
      adj_json_add_string_if_any (builder, "gradient", op->grad);
      adj_json_add_string_if_any (builder, "decomposes", op->decompose);
      json_builder_end_object (builder);
    }
  for (guint i = 0; adj_interpreter_get_function (i) != NULL; i++)
    if (wanted == NULL || strstr (adj_interpreter_get_function (i), wanted) != NULL)
      {
        json_builder_begin_object (builder);
        adj_json_add_string_if_any (builder, "target", adj_interpreter_get_function (i));
        adj_json_add_string_if_any (builder, "help", "done by the interpreter itself");
        json_builder_end_object (builder);
      }
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static guint
print_text (const char *wanted)
{
  guint n = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      const char *target = adj_op_get_schema (op)->target;

      if (wanted == NULL)
        printf ("%-52s %s\n", target, op->help);
      else if (strstr (target, wanted) != NULL)
        print_one (op);
      else
        continue;
      n++;
    }
  return n;
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  gboolean json = FALSE;
  const char *wanted;
  GOptionEntry entries[] = {
    { "json", 0, 0, G_OPTION_ARG_NONE, &json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (!adj_command_parse (&adj_command_ops, entries, 0, 1, &argc, &argv, error))
    return ADJ_EXIT_BAD_INPUT;
  wanted = argc > 1 ? argv[1] : NULL;
  if (json)
    print_json (wanted);
  else if (print_text (wanted) == 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "no operator's name contains '%s'",
                   wanted);
      return ADJ_EXIT_BAD_INPUT;
    }
  return ADJ_EXIT_DONE;
}

const AdjCommand adj_command_ops = {
  .name = "ops",
  .usage = "[NAME]",
  .summary = "List the operators, or explain those whose name contains NAME",
  .examples = "adjoint ops softmax\n",
  .run = run,
};
