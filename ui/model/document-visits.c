/* SPDX-License-Identifier: MIT */

/* What is selected, what stands out, and where the user has been. */

#include "model/document-private.h"

AdjNodeId
adj_document_get_selected (AdjDocument *self)
{
  return self->selected;
}

static gboolean
select_node (AdjDocument *self, AdjNodeId node)
{
  if (self->graph == NULL || node.index >= adj_graph_get_n_nodes (self->graph->graph))
    node = ADJ_NO_NODE;
  if (node.index == self->selected.index)
    return FALSE;
  self->selected = node;
  adj_document_changed (self, PROP_SELECTED);
  return TRUE;
}

void
adj_document_set_selected (AdjDocument *self, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (!select_node (self, node) || !adj_node_id_is_valid (self->selected))
    return;
  adj_history_push (&self->history, (AdjVisit){ self->graph_index, self->selected });
  adj_document_changed (self, PROP_HISTORY);
}

void
adj_document_set_lit (AdjDocument *self, GArray *nodes)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (nodes == self->lit)
    return;
  g_clear_pointer (&self->lit, g_array_unref);
  self->lit = nodes != NULL ? g_array_ref (nodes) : NULL;
  adj_document_changed (self, PROP_LIT);
}

GArray *
adj_document_get_lit (AdjDocument *self)
{
  return self->lit;
}

gboolean
adj_document_can_go (AdjDocument *self, gint step)
{
  g_return_val_if_fail (ADJ_IS_DOCUMENT (self), FALSE);

  return adj_history_can_go (&self->history, step);
}

void
adj_document_go (AdjDocument *self, gint step)
{
  const AdjVisit *place;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  place = adj_history_go (&self->history, step);
  if (place == NULL)
    return;
  if (place->graph == self->graph_index)
    select_node (self, place->node);
  else
    {
      self->wanted_node = place->node;
      adj_document_set_graph_index (self, place->graph);
    }
  adj_document_changed (self, PROP_HISTORY);
}

void
adj_document_show (AdjDocument *self, guint index, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (index == self->graph_index)
    {
      adj_document_set_selected (self, node);
      return;
    }
  self->wanted_node = node;
  adj_document_set_graph_index (self, index);
}
