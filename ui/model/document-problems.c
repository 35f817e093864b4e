/* SPDX-License-Identifier: MIT */
/* The document's problem: its text and the nodes to blame. */

#include "ir/adj-graph.h"
#include "model/adj-log.h"
#include "model/document-private.h"

/* Takes ownership of @problem; @nodes: the one to show first. */
static void
set_problem (
    AdjDocument *self, GError *problem, guint graph, const AdjNodeId *nodes, guint n, gint stage)
{
  g_clear_error (&self->problem);
  self->problem = problem;
  self->problem_graph = graph;
  self->failed_stage = stage;
  g_array_set_size (self->problem_nodes, 0);
  for (guint i = n; i-- > 0;)
    g_array_append_val (self->problem_nodes, nodes[i].index);
  adj_document_show_nodes (self, graph, self->problem_nodes);
  adj_document_changed (self, PROP_PROBLEM);
}

gboolean
adj_document_blame (AdjDocument *self, const AdjGraph *graph, const GError *error)
{
  guint index = self->graphs != NULL ? adj_document_find_graph (self, graph) : G_MAXUINT;
  guint n;
  g_autofree AdjNodeId *nodes = adj_graph_find_blamed (graph, error, &n);

  if (index == G_MAXUINT || n == 0)
    return FALSE;
  set_problem (self, g_error_copy (error), index, nodes, n, -1);
  return TRUE;
}

void
adj_document_show_failure (AdjDocument *self, guint index)
{
  AdjRecording *recording;
  const AdjStage *stage;
  guint graph = G_MAXUINT;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  recording = adj_bundle_get_recording (adj_document_get_bundle (self));
  stage = adj_recording_get_stage (recording, index);
  g_return_if_fail (stage->failure != NULL);
  if (stage->from >= 0)
    graph = adj_document_find_graph (
        self, adj_recording_get_stage (recording, (guint) stage->from)->graph);
  if (graph == G_MAXUINT)
    graph = self->graph_index;
  set_problem (self, g_error_new_literal (ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, stage->failure), graph,
               stage->blamed, stage->n_blamed, (gint) index);
}

gint
adj_document_get_failed_stage (AdjDocument *self)
{
  return self->problem != NULL && self->graph_index == self->problem_graph ? self->failed_stage
                                                                           : -1;
}

void
adj_document_blame_stages (AdjDocument *self)
{
  AdjRecording *recording = adj_bundle_get_recording (adj_document_get_bundle (self));
  gint failed = -1;

  for (guint i = 0; recording != NULL && i < adj_recording_get_n_stages (recording); i++)
    {
      const AdjStage *stage = adj_recording_get_stage (recording, i);

      if (stage->failure == NULL)
        continue;
      adj_log_add (self->log, ADJ_LOG_PROBLEM, "%s", stage->failure);
      failed = (gint) i;
    }
  if (failed >= 0)
    adj_document_show_failure (self, (guint) failed);
}

void
adj_document_forget_problem (AdjDocument *self)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->problem == NULL)
    return;
  g_clear_error (&self->problem);
  adj_document_changed (self, PROP_PROBLEM);
}

const GError *
adj_document_get_problem (AdjDocument *self, guint *graph, AdjNodeId *node)
{
  guint n = self->problem_nodes->len;

  *graph = self->problem_graph;
  *node = n > 0 ? (AdjNodeId){ g_array_index (self->problem_nodes, guint32, n - 1) } : ADJ_NO_NODE;
  return self->problem;
}

AdjDocument *
adj_document_get_blamed (AdjDocument *self)
{
  return self->blames_source ? self->source : NULL;
}

void
adj_document_forget_source (AdjDocument *self)
{
  self->blames_source = FALSE;
  g_clear_weak_pointer (&self->source);
  g_clear_pointer (&self->source_graph, adj_graph_unref);
}

void
adj_document_set_source (AdjDocument *self, AdjDocument *source, AdjGraph *graph)
{
  adj_document_forget_problem (source);
  adj_document_forget_source (self);
  g_set_weak_pointer (&self->source, source);
  self->source_graph = adj_graph_ref (graph);
}

void
adj_document_blame_source (AdjDocument *self)
{
  self->blames_source =
      self->source != NULL && adj_document_blame (self->source, self->source_graph, self->error);
}
