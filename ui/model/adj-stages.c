/* SPDX-License-Identifier: MIT */
/* The stages of a document's recording: stepping through them with the selection carried along. */

#include "model/adj-stages.h"

#include "ir/adj-graph.h"

AdjRecording *
adj_stages_get_recording (AdjDocument *document)
{
  AdjBundle *bundle = adj_document_get_bundle (document);

  return bundle != NULL ? adj_bundle_get_recording (bundle) : NULL;
}

gint
adj_stages_get_current (AdjDocument *document)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  guint index = adj_document_get_graph_index (document);

  if (adj_document_get_failed_stage (document) >= 0)
    return adj_document_get_failed_stage (document);
  for (guint i = 0; recording != NULL && i < adj_recording_get_n_stages (recording); i++)
    if (index != G_MAXUINT &&
        adj_document_find_graph (document, adj_recording_get_stage (recording, i)->graph) == index)
      return (gint) i;
  return -1;
}

/* The node of @to that node @node of @from became, or came from. */
static AdjNodeId
follow (const AdjRecording *recording, guint from, AdjNodeId node, guint to)
{
  const AdjGraph *graph = adj_recording_get_stage (recording, to)->graph;
  AdjNodeId back;

  if (!adj_node_id_is_valid (node))
    return ADJ_NO_NODE;
  back = adj_recording_trace_origin (recording, from, node, to);
  if (adj_node_id_is_valid (back))
    return back;
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_recording_trace_origin (recording, to, (AdjNodeId){ i }, from).index == node.index)
      return (AdjNodeId){ i };
  return ADJ_NO_NODE;
}

void
adj_stages_show_node (AdjDocument *document, guint stage, AdjNodeId node)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  guint index =
      adj_document_find_graph (document, adj_recording_get_stage (recording, stage)->graph);

  if (adj_document_get_failed_stage (document) >= 0)
    adj_document_forget_problem (document);
  if (index != G_MAXUINT)
    adj_document_show (document, index, node);
}

void
adj_stages_show (AdjDocument *document, guint stage)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  gint current = adj_stages_get_current (document);
  AdjNodeId node = ADJ_NO_NODE;

  if (adj_recording_get_stage (recording, stage)->failure != NULL)
    {
      adj_document_show_failure (document, stage);
      return;
    }
  if (current == (gint) stage)
    return;
  /* A failed stage is looked at in the graph before it. */
  while (current >= 0 && adj_recording_get_stage (recording, (guint) current)->graph == NULL)
    current = adj_recording_get_stage (recording, (guint) current)->from;
  if (current >= 0)
    node = follow (recording, (guint) current, adj_document_get_selected (document), stage);
  adj_stages_show_node (document, stage, node);
}

/* -1: there is none. */
static gint
find_step (AdjDocument *document, gint step)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  gint n = recording != NULL ? (gint) adj_recording_get_n_stages (recording) : 0;
  const AdjBundleGraph *shown = adj_document_get_graph (document);
  gint at = adj_stages_get_current (document);

  /* The pair stands behind its halves. */
  if (at < 0 && shown != NULL && g_str_equal (shown->role, ADJ_PAIR_ROLE))
    at = n;
  if (at < 0)
    return -1;
  at += step;
  return at < n ? at : -1;
}

gboolean
adj_stages_can_step (AdjDocument *document, gint step)
{
  return find_step (document, step) >= 0;
}

void
adj_stages_step (AdjDocument *document, gint step)
{
  gint stage = find_step (document, step);

  if (stage >= 0)
    adj_stages_show (document, (guint) stage);
}
