/* SPDX-License-Identifier: MIT */
/* The stages of a pipeline as text and as JSON. */

#include "stage-report.h"

#include <stdio.h>

#include "ir/adj-graph.h"
#include "json-members.h"

static void
print_time (gint64 ns)
{
  if (ns >= 0)
    printf ("%10.2f ms", (double) ns / 1e6);
}

/* "    metadata          0.12 ms  in 0: rg", and under it the other lines. */
static void
print_steps (const AdjStage *stage)
{
  for (guint i = 0; i < stage->n_steps; i++)
    {
      g_auto (GStrv) lines = g_strsplit (stage->steps[i].note, "\n", -1);

      printf ("    %-20s %10.2f ms  %s\n", stage->steps[i].name, (double) stage->steps[i].ns / 1e6,
              lines[0] != NULL ? lines[0] : "-");
      for (guint k = 1; lines[0] != NULL && lines[k] != NULL; k++)
        printf ("%40s%s\n", "", lines[k]);
    }
}

void
adj_stage_report_text (const AdjRecording *recording, guint first, guint n, gboolean steps)
{
  printf ("%-16s %8s %8s %13s\n", "STAGE", "NODES", "CHANGE", "TIME");
  for (guint i = first; i < first + n; i++)
    {
      const AdjStage *stage = adj_recording_get_stage (recording, i);
      const AdjStage *from =
          stage->from >= 0 ? adj_recording_get_stage (recording, (guint) stage->from) : NULL;
      guint n_calls = stage->graph != NULL ? adj_graph_get_n_calls (stage->graph) : 0;

      if (stage->failure != NULL)
        {
          printf ("%-16s %8s\n", stage->name, "failed");
          continue;
        }
      printf ("%-16s %8u ", stage->name, n_calls);
      if (from != NULL)
        printf ("%+8d ", (int) n_calls - (int) adj_graph_get_n_calls (from->graph));
      else
        printf ("%8s ", "");
      print_time (stage->ns);
      putchar ('\n');
      if (steps)
        print_steps (stage);
    }
}

static void
add_blamed (JsonBuilder *builder, const AdjStage *stage, const AdjGraph *before)
{
  json_builder_set_member_name (builder, "blamed");
  json_builder_begin_array (builder);
  for (guint i = 0; i < stage->n_blamed; i++)
    json_builder_add_string_value (builder,
                                   adj_graph_get_node (before, stage->blamed[i].index)->name);
  json_builder_end_array (builder);
}

static void
add_steps (JsonBuilder *builder, const AdjStage *stage)
{
  json_builder_set_member_name (builder, "steps");
  json_builder_begin_array (builder);
  for (guint i = 0; i < stage->n_steps; i++)
    {
      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", stage->steps[i].name);
      adj_json_add_string (builder, "note", stage->steps[i].note);
      adj_json_add_int (builder, "ns", stage->steps[i].ns);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
add_stage (JsonBuilder *builder, const AdjRecording *recording, const AdjStage *stage)
{
  json_builder_begin_object (builder);
  adj_json_add_string (builder, "name", stage->name);
  if (stage->failure != NULL)
    {
      adj_json_add_string (builder, "failure", stage->failure);
      add_blamed (builder, stage, adj_recording_get_stage (recording, (guint) stage->from)->graph);
    }
  else
    adj_json_add_int (builder, "nodes", adj_graph_get_n_calls (stage->graph));
  adj_json_add_int (builder, "notes", stage->n_notes);
  add_steps (builder, stage);
  if (stage->ns >= 0)
    adj_json_add_int (builder, "ns", stage->ns);
  json_builder_end_object (builder);
}

void
adj_stage_report_json (const AdjRecording *recording, guint first, guint n, JsonBuilder *builder)
{
  json_builder_set_member_name (builder, "stages");
  json_builder_begin_array (builder);
  for (guint i = first; i < first + n; i++)
    add_stage (builder, recording, adj_recording_get_stage (recording, i));
  json_builder_end_array (builder);
}

gboolean
adj_stage_report_graph (
    const AdjRecording *recording, guint first, guint n, const char *name, GError **error)
{
  for (guint i = first + n; i-- > first;)
    {
      const AdjStage *stage = adj_recording_get_stage (recording, i);
      g_autofree char *text = NULL;

      if (!g_str_equal (stage->name, name) || stage->graph == NULL)
        continue;
      text = adj_graph_print (stage->graph, ADJ_PRINT_DEFAULT, NULL);
      puts (text);
      return TRUE;
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there was no stage '%s'", name);
  return FALSE;
}
