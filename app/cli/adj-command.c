/* SPDX-License-Identifier: MIT */
/* What commands share: parsing of options, opening FILE#ID, running it, progress and JSON. */

#include "adj-command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adj-warnings.h"
#include "ir/adj-graph.h"
#include "json-members.h"
#include "plugins.h"

/* (nullable): the examples of @command, below the options in its help. */
static char *
indent_examples (const AdjCommand *command)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (command->examples == NULL)
    return NULL;
  g_string_append_printf (text, "\n%s", command->examples);
  g_string_truncate (text, text->len - 1);
  g_string_replace (text, "\n", "\n  ", 0);
  g_string_prepend (text, "Examples:");
  return g_string_free (g_steal_pointer (&text), FALSE);
}

gboolean
adj_command_parse (const AdjCommand *command,
                   const GOptionEntry *entries,
                   guint n_min,
                   guint n_max,
                   int *argc,
                   char ***argv,
                   GError **error)
{
  g_autofree char *program = g_strdup_printf ("adjoint %s", command->name);
  g_autofree char *summary = g_strdup_printf ("%s.", command->summary);
  g_autofree char *examples = indent_examples (command);
  g_autoptr (GOptionContext) context = g_option_context_new (command->usage);
  guint n;

  g_set_prgname (program);
  g_option_context_set_summary (context, summary);
  g_option_context_set_description (context, examples);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, argc, argv, error))
    return FALSE;
  n = (guint) *argc - 1;
  if (n >= n_min && n <= n_max)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "usage: adjoint %s %s", command->name,
               command->usage);
  return FALSE;
}

#define COMPOSED "forward+backward"

/* "forward+backward": the composition of the two graphs of the only region that has both, with the
 * inputs and outputs of its joint graph. */
static gboolean
compose (AdjTarget *target, GError **error)
{
  const AdjBundleGraph *forward = adj_bundle_find_graph (target->bundle, "forward", error);
  const AdjBundleGraph *backward =
      forward != NULL ? adj_bundle_find_graph (target->bundle, "backward", error) : NULL;
  const AdjRegion *region =
      backward != NULL ? adj_bundle_find_region (target->bundle, forward) : NULL;

  if (backward == NULL)
    return FALSE;
  if (region == NULL || region->num_fwd_outputs < 0)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                           "the file does not say which outputs of the forward graph are saved");
      return FALSE;
    }
  target->composed = *forward;
  target->composed.id = target->composed.title = target->composed.role = COMPOSED;
  target->composed.graph =
      adj_graph_compose (forward->graph, backward->graph, (guint) region->num_fwd_outputs, error);
  target->graph = &target->composed;
  target->recorded = adj_bundle_find_graph (target->bundle, "joint", NULL);
  return target->composed.graph != NULL;
}

static gboolean
choose_graph (AdjTarget *target, const char *id, GError **error)
{
  if (g_strcmp0 (id, COMPOSED) == 0)
    return compose (target, error);
  target->graph = adj_bundle_find_graph (target->bundle, id, error);
  return target->graph != NULL;
}

gboolean
adj_target_open (AdjTarget *target, const char *text, const char *id, GError **error)
{
  g_auto (AdjGraphName) name = { 0 };
  const char *wanted;

  adj_graph_name_init (&name, text);
  target->name = text;
  wanted = name.id != NULL ? name.id : id;
  if (name.id != NULL && id != NULL && !g_str_equal (name.id, id))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: both '#%s' and --graph %s are given",
                   text, name.id, id);
      return FALSE;
    }
  if (name.how != NULL && (target->executor = adj_executor_find (name.how, error)) == NULL)
    return FALSE;
  target->bundle = plugins_load_bundle (name.path, error);
  if (target->bundle == NULL)
    return FALSE;
  adj_warnings_note (name.path, adj_bundle_get_diags (target->bundle));
  target->path = g_strdup (name.path);
  target->named = wanted != NULL;
  if (target->whole && wanted == NULL)
    {
      target->graph = adj_bundle_find_graph (target->bundle, NULL, NULL);
      return TRUE;
    }
  if (choose_graph (target, wanted, error))
    return TRUE;
  g_prefix_error (error, "%s: ", name.path);
  return FALSE;
}

gboolean
adj_target_check_understood (const AdjTarget *target, GError **error)
{
  if (adj_graph_check_understood (target->graph->graph, error))
    return TRUE;
  g_prefix_error (error, "%s:", target->path);
  return FALSE;
}

AdjSessionRun
adj_target_run (const AdjTarget *target)
{
  return (AdjSessionRun){ .bundle = target->bundle,
                          .graph = target->graph,
                          .recorded = target->recorded,
                          .executor = target->executor };
}

void
adj_target_say_inputs (const AdjSessionRun *run)
{
  if (adj_session_draws_beside_weights (run))
    {
      g_autofree char *from = adj_session_describe_inputs (run);

      g_printerr ("inputs: %s\n", from);
    }
}

gboolean
adj_target_take_inputs (AdjTarget *target, const char *text, AdjSessionRun *run, GError **error)
{
  if (g_str_has_prefix (text, ADJ_RUN_PREFIX))
    {
      target->kept = adj_bundle_find_run (
          target->bundle, target->recorded != NULL ? target->recorded : target->graph,
          text + strlen (ADJ_RUN_PREFIX), error);
      run->kept = target->kept;
      if (target->kept == NULL)
        g_prefix_error (error, "%s: ", target->path);
      return target->kept != NULL;
    }
  target->inputs = adj_session_read_inputs (
      target->graph->graph, text,
      adj_bundle_find_call (target->bundle,
                            target->recorded != NULL ? target->recorded : target->graph, 0),
      &target->n_inputs, error);
  run->inputs = target->inputs;
  run->n_inputs = target->n_inputs;
  return target->inputs != NULL;
}

void
adj_target_clear (AdjTarget *target)
{
  adj_session_free_inputs (target->inputs, target->n_inputs);
  g_clear_pointer (&target->kept, adj_run_unref);
  g_clear_pointer (&target->path, g_free);
  g_clear_pointer (&target->composed.graph, adj_graph_unref);
  g_clear_pointer (&target->bundle, adj_bundle_unref);
}

#define PROGRESS_DELAY (300 * G_TIME_SPAN_MILLISECOND)
#define PROGRESS_INTERVAL (50 * G_TIME_SPAN_MILLISECOND)

void
adj_progress_line (guint done, guint total, gpointer data)
{
  AdjProgressLine *line = data;
  gint64 now = g_get_monotonic_time ();

  if (line->started == 0)
    line->started = now;
  if (now - line->started < PROGRESS_DELAY || now - line->shown < PROGRESS_INTERVAL ||
      !isatty (STDERR_FILENO))
    return;
  fprintf (stderr, "\r%u of %u %s", done, total, line->what != NULL ? line->what : "nodes");
  fflush (stderr);
  line->shown = now;
}

void
adj_progress_line_end (AdjProgressLine *line)
{
  if (line->shown != 0)
    fputs ("\r\033[K", stderr);
}

void
adj_print_json (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = json_builder_get_root (builder);
  g_autofree char *text = NULL;

  adj_warnings_add (root);
  text = json_to_string (root, TRUE);
  puts (text);
  g_object_unref (builder);
}

void
adj_print_written (const char *path, const char *graph)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  adj_json_add_string (builder, "written", path);
  if (graph != NULL)
    adj_json_add_string (builder, "graph", graph);
  json_builder_end_object (builder);
  adj_print_json (builder);
}
