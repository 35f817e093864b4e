/* SPDX-License-Identifier: MIT */
#include "model/document-private.h"

gboolean
adj_document_blame (AdjDocument *self, const AdjGraph *graph, const GError *error)
{
  guint index = self->graphs != NULL ? adj_document_find_graph (self, graph) : G_MAXUINT;
  AdjNodeId node = index != G_MAXUINT ? adj_graph_find_blamed (graph, error) : ADJ_NO_NODE;

  if (!adj_node_id_is_valid (node))
    return FALSE;
  g_clear_error (&self->problem);
  self->problem = g_error_copy (error);
  self->problem_graph = index;
  self->problem_node = node;
  adj_document_changed (self, PROP_PROBLEM);
  adj_document_show (self, index, node);
  return TRUE;
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
  *graph = self->problem_graph;
  *node = self->problem_node;
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
