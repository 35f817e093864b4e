/* SPDX-License-Identifier: MIT */
/* A program as the target of a command: called, traced or captured. */

#include "program.h"

#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "adj-warnings.h"
#include "builtin-programs.h"
#include "json-members.h"

/* -- names -- */

static gboolean
is_plugin (const char *name)
{
  const char *colon = strrchr (name, ':');

  return colon != NULL && colon - name > 3 && strncmp (colon - 3, ".so", 3) == 0;
}

static gboolean
read_how (AdjProgramTarget *target, const char *at, const char *text, GError **error)
{
  static const char *const hows[ADJ_PROGRAM_N_HOWS] = {
    [ADJ_PROGRAM_EAGER] = "@eager",
    [ADJ_PROGRAM_TRACED] = "@traced",
    [ADJ_PROGRAM_COMPILED] = "@compiled",
    [ADJ_PROGRAM_CAPTURED] = "@captured",
    [ADJ_PROGRAM_CAPTURED_2_6] = "@captured-2.6",
  };

  for (guint i = 0; i < ADJ_PROGRAM_N_HOWS; i++)
    if (strcmp (at, hows[i]) == 0)
      {
        target->how = (AdjProgramHow) i;
        return TRUE;
      }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "%s: a program runs @eager, @traced, @compiled, @captured or @captured-2.6, not %s",
               text, at);
  return FALSE;
}

gboolean
adj_program_target_init (AdjProgramTarget *target, const char *text, GError **error)
{
  const char *at = strrchr (text, '@');
  g_autofree char *name = at != NULL ? g_strndup (text, (gsize) (at - text)) : g_strdup (text);

  *target = (AdjProgramTarget){ NULL };
  if (g_file_test (text, G_FILE_TEST_EXISTS))
    return TRUE;
  if (is_plugin (name))
    {
      target->program = adj_program_open (name, error);
      if (target->program == NULL)
        return FALSE;
    }
  else
    target->program = adj_builtin_program_find (name);
  return target->program == NULL || at == NULL || read_how (target, at, text, error);
}

gboolean
adj_program_target_refuse (const AdjProgramTarget *target,
                           const AdjFileOption *options,
                           guint n,
                           GError **error)
{
  for (guint i = 0; target->program != NULL && i < n; i++)
    if (options[i].given)
      {
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                     "'%s' is a program, and %s is for graphs of files", target->program->name,
                     options[i].name);
        return FALSE;
      }
  return TRUE;
}

/* -- run -- */

static void
print_text (const char *text, gboolean json)
{
  g_autoptr (JsonBuilder) builder = NULL;

  if (!json)
    {
      printf ("%s", text);
      return;
    }
  builder = json_builder_new ();
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "text", text);
  json_builder_end_object (builder);
  adj_print_json (g_steal_pointer (&builder));
}

gboolean
adj_program_how_is_captured (AdjProgramHow how)
{
  return how == ADJ_PROGRAM_CAPTURED || how == ADJ_PROGRAM_CAPTURED_2_6;
}

/* Prints the graph that is called instead of the function. */
static AdjExit
print_graph (const AdjProgramTarget *target, gboolean json, GError **error)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjAotGraph) aot =
      adj_program_compile (target->program, target->how == ADJ_PROGRAM_TRACED, diags, error);
  g_autofree char *text = NULL;

  adj_warnings_note (target->program->name, diags);
  if (aot == NULL)
    return ADJ_EXIT_BAD_INPUT;
  text = adj_graph_print (adj_aot_graph_get_graph (aot), ADJ_PRINT_DEFAULT, NULL);
  print_text (text, json);
  return ADJ_EXIT_DONE;
}

static AdjExit
run_captured (const AdjProgramTarget *target, gboolean json, GError **error)
{
  g_auto (AdjProgramOutcome) outcome = { NULL };

  if (target->program->run == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the program '%s' only has a function",
                   target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  if (!adj_program_evaluate (target->program, target->how, TRUE, &outcome, error))
    return ADJ_EXIT_BAD_INPUT;
  print_text (outcome.text, json);
  return ADJ_EXIT_DONE;
}

AdjExit
adj_program_target_run (const AdjProgramTarget *target, gboolean json, GError **error)
{
  g_autoptr (AdjContext) cx = NULL;
  g_autoptr (GString) out = g_string_new (NULL);

  if (adj_program_how_is_captured (target->how))
    return run_captured (target, json, error);
  if (target->how != ADJ_PROGRAM_EAGER)
    return print_graph (target, json, error);
  if (target->program->run == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the program '%s' only has a function",
                   target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  cx = adj_context_new_with_autograd ();
  target->program->run (cx, out);
  print_text (out->str, json);
  if (adj_context_take_error (cx, error))
    {
      g_prefix_error (error, "%s: ", target->program->name);
      return ADJ_EXIT_BAD_INPUT;
    }
  return ADJ_EXIT_DONE;
}
