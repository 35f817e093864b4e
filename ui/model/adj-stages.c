/* SPDX-License-Identifier: MIT */
/* Stepping through the stages of a document, with the selection carried along. */

#include "model/adj-stages.h"

#include "ir/adj-compare.h"
#include "ir/adj-graph.h"

AdjRecording *
adj_stages_get_recording (AdjDocument *document)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  guint index = adj_document_get_graph_index (document);

  if (graphs == NULL || index >= adj_graph_set_get_n (graphs))
    return NULL;
  return adj_graph_set_get_stages (graphs, adj_graph_set_get (graphs, index));
}

/* -- the list -- */

gboolean
adj_stages_is_half (const AdjRecording *recording, guint stage)
{
  const AdjStage *half = adj_recording_get_stage (recording, stage);
  const char *other = g_str_equal (half->name, "forward")    ? "backward"
                      : g_str_equal (half->name, "backward") ? "forward"
                                                             : NULL;

  for (guint i = 0; other != NULL && half->from >= 0 && i < adj_recording_get_n_stages (recording);
       i++)
    if (adj_recording_get_stage (recording, i)->from == half->from &&
        g_str_equal (adj_recording_get_stage (recording, i)->name, other))
      return TRUE;
  return FALSE;
}

gint
adj_stages_find_partitioned (const AdjRecording *recording)
{
  gint stage = adj_recording_find (recording, "forward");

  if (stage < 0)
    return -1;
  do
    stage = adj_recording_get_stage (recording, (guint) stage)->from;
  while (stage >= 0 &&
         g_str_equal (adj_recording_get_stage (recording, (guint) stage)->name, "tag"));
  return stage;
}

/* The index in the document of the pair of two halves; G_MAXUINT: they cannot be composed. */
static guint
find_pair (AdjDocument *document, const AdjGraph *half)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  const AdjBundleGraph *pair = half != NULL ? adj_graph_set_find_pair (graphs, half) : NULL;

  return pair != NULL ? adj_document_find_graph (document, pair->graph) : G_MAXUINT;
}

GArray *
adj_stages_list_steps (AdjDocument *document)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  GArray *steps = g_array_new (FALSE, FALSE, sizeof (AdjStep));
  guint last = G_MAXUINT;

  for (guint i = 0; recording != NULL && i < adj_recording_get_n_stages (recording); i++)
    {
      const AdjGraph *graph = adj_recording_get_stage (recording, i)->graph;
      AdjStep step = { (gint) i, adj_document_find_graph (document, graph) };
      AdjStep pair = { -1, find_pair (document, graph) };

      if (pair.graph != G_MAXUINT && pair.graph != last)
        g_array_append_val (steps, pair);
      last = pair.graph != G_MAXUINT ? pair.graph : last;
      g_array_append_val (steps, step);
    }
  return steps;
}

gint
adj_stages_get_current_step (AdjDocument *document)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint failed = adj_document_get_failed_stage (document);
  guint index = adj_document_get_graph_index (document);

  for (guint i = 0; i < steps->len; i++)
    {
      const AdjStep *step = &g_array_index (steps, AdjStep, i);

      if (failed >= 0 ? step->stage == failed : index != G_MAXUINT && step->graph == index)
        return (gint) i;
    }
  return -1;
}

gint
adj_stages_find_before (AdjDocument *document, gint index)
{
  AdjRecording *recording = adj_stages_get_recording (document);
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint stage, from;
  guint graph;

  if (index < 0 || (guint) index >= steps->len ||
      g_array_index (steps, AdjStep, index).graph == G_MAXUINT)
    return -1;
  stage = g_array_index (steps, AdjStep, index).stage;
  if (stage < 0 && (guint) index + 1 < steps->len)
    stage = g_array_index (steps, AdjStep, index + 1).stage;
  from = stage >= 0 ? adj_recording_get_stage (recording, (guint) stage)->from : -1;
  if (from < 0)
    return -1;
  graph =
      adj_document_find_graph (document, adj_recording_get_stage (recording, (guint) from)->graph);
  return graph != G_MAXUINT ? (gint) graph : -1;
}

gint
adj_stages_get_current (AdjDocument *document)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint step = adj_stages_get_current_step (document);

  return step >= 0 ? g_array_index (steps, AdjStep, step).stage : -1;
}

/* -- the selection -- */

/* By origins: the node of stage @to that is a descendant or the origin of node @node of @from. */
static AdjNodeId
follow_origins (const AdjRecording *recording, guint from, AdjNodeId node, guint to)
{
  const AdjGraph *graph = adj_recording_get_stage (recording, to)->graph;
  AdjNodeId back = adj_recording_trace_origin (recording, from, node, to);

  if (adj_node_id_is_valid (back))
    return back;
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_recording_trace_origin (recording, to, (AdjNodeId){ i }, from).index == node.index)
      return (AdjNodeId){ i };
  return ADJ_NO_NODE;
}

AdjNodeId
adj_stages_find_named (const AdjGraph *a, AdjNodeId node, const AdjGraph *b)
{
  const AdjNode *wanted = adj_graph_get_node (a, node.index), *named;
  AdjNodeId found = adj_graph_find_node (b, wanted->name);

  if (!adj_node_id_is_valid (found))
    return ADJ_NO_NODE;
  named = adj_graph_get_node (b, found.index);
  return g_str_equal (named->target, wanted->target) ||
                 (named->opcode == ADJ_OPCODE_PLACEHOLDER) !=
                     (wanted->opcode == ADJ_OPCODE_PLACEHOLDER)
             ? found
             : ADJ_NO_NODE;
}

/* The node of @b that is aligned with node @node of @a. */
static AdjNodeId
follow_alike (const AdjGraph *a, AdjNodeId node, const AdjGraph *b)
{
  AdjNodeId named = adj_stages_find_named (a, node, b);
  g_autoptr (AdjAlignment) alignment = NULL;

  if (adj_node_id_is_valid (named))
    return named;
  alignment = adj_graph_align (a, b);
  for (guint i = 0; i < alignment->n_changes; i++)
    if (alignment->changes[i].a.index == node.index)
      return alignment->changes[i].b;
  return ADJ_NO_NODE;
}

static AdjNodeId
follow (AdjDocument *document, const AdjStep *from, AdjNodeId node, const AdjStep *to)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  AdjNodeId found = ADJ_NO_NODE;

  if (!adj_node_id_is_valid (node) || from->graph == G_MAXUINT || to->graph == G_MAXUINT)
    return ADJ_NO_NODE;
  if (from->stage >= 0 && to->stage >= 0)
    found = follow_origins (adj_stages_get_recording (document), (guint) from->stage, node,
                            (guint) to->stage);
  if (adj_node_id_is_valid (found))
    return found;
  return follow_alike (adj_graph_set_get (graphs, from->graph)->graph, node,
                       adj_graph_set_get (graphs, to->graph)->graph);
}

/* -- stepping -- */

static void
show_graph (AdjDocument *document, guint index, AdjNodeId node)
{
  if (adj_document_get_failed_stage (document) >= 0)
    adj_document_forget_problem (document);
  if (index != G_MAXUINT)
    adj_document_show (document, index, node);
}

void
adj_stages_show_node (AdjDocument *document, guint stage, AdjNodeId node)
{
  AdjRecording *recording = adj_stages_get_recording (document);

  show_graph (document,
              adj_document_find_graph (document, adj_recording_get_stage (recording, stage)->graph),
              node);
}

void
adj_stages_show_step (AdjDocument *document, guint index)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint current = adj_stages_get_current_step (document);
  const AdjStep *to;
  AdjStep from = { -1, G_MAXUINT };

  g_return_if_fail (index < steps->len);

  to = &g_array_index (steps, AdjStep, index);
  if (to->graph == G_MAXUINT)
    {
      adj_document_show_failure (document, (guint) to->stage);
      return;
    }
  if (current == (gint) index)
    return;
  /* A failed stage is shown as the graph before it. */
  if (current >= 0)
    from = g_array_index (steps, AdjStep, current);
  if (from.graph == G_MAXUINT)
    from.graph = adj_document_get_graph_index (document);
  for (guint i = 0; current >= 0 && i < steps->len; i++)
    if (g_array_index (steps, AdjStep, i).graph == from.graph)
      from = g_array_index (steps, AdjStep, i);
  show_graph (document, to->graph,
              follow (document, &from, adj_document_get_selected (document), to));
}

void
adj_stages_show (AdjDocument *document, guint stage)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);

  for (guint i = 0; i < steps->len; i++)
    if (g_array_index (steps, AdjStep, i).stage == (gint) stage)
      adj_stages_show_step (document, i);
}

/* The index of the step in direction @step; -1: there is none. */
static gint
find_step (AdjDocument *document, gint step)
{
  g_autoptr (GArray) steps = adj_stages_list_steps (document);
  gint at = adj_stages_get_current_step (document);

  return at < 0 || at + step >= (gint) steps->len ? -1 : at + step;
}

gboolean
adj_stages_can_step (AdjDocument *document, gint step)
{
  return find_step (document, step) >= 0;
}

void
adj_stages_step (AdjDocument *document, gint step)
{
  gint to = find_step (document, step);

  if (to >= 0)
    adj_stages_show_step (document, (guint) to);
}
