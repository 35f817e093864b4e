/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "adj-command.h"

extern const AdjCommand adj_command_trace;

/* -- reports -- */

static void
print_time (gint64 ns)
{
  if (ns >= 0)
    printf ("%10.2f ms", (double) ns / 1e6);
}

static void
print_text (const AdjRecording *recording)
{
  printf ("%-16s %8s %8s %13s\n", "STAGE", "NODES", "CHANGE", "TIME");
  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    {
      const AdjStage *stage = adj_recording_get_stage (recording, i);
      const AdjStage *from =
          stage->from >= 0 ? adj_recording_get_stage (recording, (guint) stage->from) : NULL;
      guint n = stage->graph != NULL ? adj_graph_get_n_calls (stage->graph) : 0;

      if (stage->failure != NULL)
        {
          printf ("%-16s %8s\n", stage->name, "failed");
          continue;
        }
      printf ("%-16s %8u ", stage->name, n);
      if (from != NULL)
        printf ("%+8d ", (int) n - (int) adj_graph_get_n_calls (from->graph));
      else
        printf ("%8s ", "");
      print_time (stage->ns);
      putchar ('\n');
    }
}

static void
add_stage (JsonBuilder *builder, const AdjStage *stage)
{
  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "name");
  json_builder_add_string_value (builder, stage->name);
  if (stage->failure != NULL)
    {
      json_builder_set_member_name (builder, "failure");
      json_builder_add_string_value (builder, stage->failure);
    }
  else
    {
      json_builder_set_member_name (builder, "nodes");
      json_builder_add_int_value (builder, adj_graph_get_n_calls (stage->graph));
    }
  json_builder_set_member_name (builder, "notes");
  json_builder_add_int_value (builder, stage->n_notes);
  if (stage->ns >= 0)
    {
      json_builder_set_member_name (builder, "ns");
      json_builder_add_int_value (builder, stage->ns);
    }
  json_builder_end_object (builder);
}

static void
print_json (const AdjRecording *recording)
{
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_array (builder);
  for (guint i = 0; i < adj_recording_get_n_stages (recording); i++)
    add_stage (builder, adj_recording_get_stage (recording, i));
  json_builder_end_array (builder);
  adj_print_json (builder);
}

static gboolean
print_stage (const AdjRecording *recording, const char *name, GError **error)
{
  gint index = adj_recording_find (recording, name);
  g_autofree char *text = NULL;

  if (index < 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there was no stage '%s'", name);
      return FALSE;
    }
  text = adj_graph_print (adj_recording_get_stage (recording, (guint) index)->graph,
                          ADJ_PRINT_DEFAULT, NULL);
  puts (text);
  return TRUE;
}

/* -- the command -- */

typedef struct
{
  char *id, *out, *steps, *dump_after;
  gboolean json;
} Options;

static gboolean
save (AdjRecording *recording, const AdjTarget *target, const char *path, GError **error)
{
  const AdjFormat *format = adj_format_for_path (path, error);
  g_autoptr (AdjBundle) bundle = NULL;

  if (format == NULL)
    return FALSE;
  bundle = adj_recording_to_bundle (recording, target->bundle, target->graph);
  return format->save (bundle, NULL, path, NULL, error);
}

static gboolean
report (AdjRecording *recording, const AdjTarget *target, const Options *options, GError **error)
{
  const AdjStage *last =
      adj_recording_get_stage (recording, adj_recording_get_n_stages (recording) - 1);

  if (options->dump_after != NULL)
    {
      if (!print_stage (recording, options->dump_after, error))
        return FALSE;
    }
  else if (options->json)
    print_json (recording);
  else
    print_text (recording);
  if (last->failure != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s: %s", target->name, last->failure);
      return FALSE;
    }
  return options->out == NULL || save (recording, target, options->out, error);
}

static AdjExit
run (int argc, char **argv, GError **error)
{
  g_auto (AdjTarget) target = { 0 };
  g_autoptr (AdjRecording) recording = NULL;
  Options options = { 0 };
  AdjExit status = ADJ_EXIT_BAD_INPUT;
  GOptionEntry entries[] = {
    { "graph", 'g', 0, G_OPTION_ARG_STRING, &options.id, "Which graph of the file", "ID" },
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options.out, "Save every stage", "OUT.adjoint" },
    { "pipeline", 'p', 0, G_OPTION_ARG_STRING, &options.steps,
      "Passes by name, separated by commas (see 'adjoint passes')", "P" },
    { "dump-after", 0, 0, G_OPTION_ARG_STRING, &options.dump_after, "Print the graph of a stage",
      "PASS" },
    { "json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print JSON", NULL },
    G_OPTION_ENTRY_NULL,
  };

  if (adj_command_parse (&adj_command_trace, entries, 1, 1, &argc, &argv, error) &&
      adj_target_open (&target, argv[1], options.id, error))
    {
      AdjPipelineOptions pipeline = { .steps = options.steps };

      recording =
          adj_pipeline_run (target.graph->graph, target.graph->role, &pipeline, NULL, error);
      if (recording != NULL && report (recording, &target, &options, error))
        status = ADJ_EXIT_DONE;
    }
  g_free (options.id);
  g_free (options.out);
  g_free (options.steps);
  g_free (options.dump_after);
  return status;
}

const AdjCommand adj_command_trace = {
  .name = "trace",
  .usage = "FILE[#ID]",
  .summary = "Run the passes of a pipeline on a graph and report every stage",
  .run = run,
};
