/* SPDX-License-Identifier: MIT */
/* The recording of a pipeline: its graphs in order, and the origin of each node. */

#include "passes/adj-recording.h"

#include "ir/adj-graph.h"

struct _AdjRecording
{
  gatomicrefcount ref_count;
  GPtrArray *stages; /* of AdjStage */
};

static void
stage_free (gpointer data)
{
  AdjStage *stage = data;

  g_free (stage->name);
  g_free (stage->summary);
  g_free (stage->failure);
  g_free (stage->blamed);
  g_clear_pointer (&stage->graph, adj_graph_unref);
  for (guint i = 0; i < stage->n_notes; i++)
    g_free (stage->notes[i].reason);
  g_free (stage->notes);
  for (guint i = 0; i < stage->n_steps; i++)
    {
      g_free (stage->steps[i].name);
      g_free (stage->steps[i].note);
    }
  g_free (stage->steps);
  g_free (stage);
}

AdjRecording *
adj_recording_new (void)
{
  AdjRecording *recording = g_new (AdjRecording, 1);

  g_atomic_ref_count_init (&recording->ref_count);
  recording->stages = g_ptr_array_new_with_free_func (stage_free);
  return recording;
}

AdjRecording *
adj_recording_ref (AdjRecording *recording)
{
  g_atomic_ref_count_inc (&recording->ref_count);
  return recording;
}

void
adj_recording_unref (AdjRecording *recording)
{
  if (!g_atomic_ref_count_dec (&recording->ref_count))
    return;
  g_ptr_array_unref (recording->stages);
  g_free (recording);
}

guint
adj_recording_add (AdjRecording *recording, const AdjStage *stage)
{
  AdjStage *copy = g_new (AdjStage, 1);

  g_return_val_if_fail (stage->from < (gint) recording->stages->len, 0);

  *copy = (AdjStage){
    .name = g_strdup (stage->name),
    .summary = g_strdup (stage->summary),
    .graph = stage->graph != NULL ? adj_graph_ref (stage->graph) : NULL,
    .from = stage->from,
    .n_notes = stage->n_notes,
    .notes = g_new (AdjPassNote, stage->n_notes),
    .n_steps = stage->n_steps,
    .steps = g_new (AdjPassStep, stage->n_steps),
    .ns = stage->ns,
    .failure = g_strdup (stage->failure),
    .n_blamed = stage->n_blamed,
    .blamed = g_memdup2 (stage->blamed, stage->n_blamed * sizeof *stage->blamed),
  };
  for (guint i = 0; i < stage->n_notes; i++)
    {
      copy->notes[i] = stage->notes[i];
      copy->notes[i].reason = g_strdup (stage->notes[i].reason);
    }
  for (guint i = 0; i < stage->n_steps; i++)
    copy->steps[i] = (AdjPassStep){ g_strdup (stage->steps[i].name),
                                    g_strdup (stage->steps[i].note), stage->steps[i].ns };
  g_ptr_array_add (recording->stages, copy);
  return recording->stages->len - 1;
}

guint
adj_recording_get_n_stages (const AdjRecording *recording)
{
  return recording->stages->len;
}

const AdjStage *
adj_recording_get_stage (const AdjRecording *recording, guint index)
{
  g_return_val_if_fail (index < recording->stages->len, NULL);

  return g_ptr_array_index (recording->stages, index);
}

gint
adj_recording_find (const AdjRecording *recording, const char *name)
{
  for (guint i = recording->stages->len; i-- > 0;)
    if (g_str_equal (adj_recording_get_stage (recording, i)->name, name))
      return (gint) i;
  return -1;
}

AdjNodeId
adj_recording_trace_origin (const AdjRecording *recording,
                            guint stage,
                            AdjNodeId id,
                            guint ancestor)
{
  while (stage != ancestor && adj_node_id_is_valid (id))
    {
      const AdjStage *at = adj_recording_get_stage (recording, stage);

      if (at->graph == NULL || at->from < 0 || id.index >= adj_graph_get_n_nodes (at->graph))
        return ADJ_NO_NODE;
      id = adj_graph_get_node (at->graph, id.index)->origin;
      stage = (guint) at->from;
    }
  if (adj_node_id_is_valid (id))
    {
      const AdjGraph *graph = adj_recording_get_stage (recording, ancestor)->graph;

      if (graph == NULL || id.index >= adj_graph_get_n_nodes (graph))
        return ADJ_NO_NODE;
    }
  return id;
}
