/* SPDX-License-Identifier: MIT */

/* Selection, highlighted nodes, and the history of visited places. */

#include "ir/adj-graph.h"
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

static void
visit (AdjDocument *self, AdjNodeId node)
{
  if (!select_node (self, node) || !adj_node_id_is_valid (self->selected))
    return;
  adj_history_push (&self->history, (AdjVisit){ self->graph_index, self->selected });
  adj_document_changed (self, PROP_HISTORY);
}

/* -- several -- */

static void
set_chosen (AdjDocument *self, GArray *chosen)
{
  AdjArrangement *next = adj_document_begin_change (self);

  adj_arrangement_set_chosen (next, chosen);
  adj_document_arrange (self, next);
}

void
adj_document_follow_chosen (AdjDocument *self, const AdjArrangement *before)
{
  GArray *chosen = self->arrangement->chosen;

  if (chosen != NULL)
    visit (self, (AdjNodeId){ g_array_index (chosen, guint32, chosen->len - 1) });
  adj_document_changed (self, PROP_CHOSEN);
}

static void
select_only (AdjDocument *self, AdjNodeId node)
{
  if (self->arrangement->chosen != NULL)
    set_chosen (self, NULL);
  visit (self, node);
}

void
adj_document_set_selected (AdjDocument *self, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  /* Lists that follow the selection set it again; that must not drop the other chosen nodes. */
  if (self->arrangement->chosen != NULL && node.index == self->selected.index)
    return;
  select_only (self, node);
}

void
adj_document_choose (AdjDocument *self, GArray *nodes)
{
  g_return_if_fail (ADJ_IS_DOCUMENT (self));
  g_return_if_fail (nodes != NULL);

  if (nodes->len > 1)
    set_chosen (self, nodes);
  else
    select_only (self,
                 nodes->len == 1 ? (AdjNodeId){ g_array_index (nodes, guint32, 0) } : ADJ_NO_NODE);
}

GArray *
adj_document_get_chosen (AdjDocument *self)
{
  return self->arrangement->chosen;
}

/* All selected nodes, even if there is only one or none.  (transfer full) */
static GArray *
copy_selection (AdjDocument *self)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (self->arrangement->chosen != NULL)
    g_array_append_vals (nodes, self->arrangement->chosen->data, self->arrangement->chosen->len);
  else if (adj_node_id_is_valid (self->selected))
    g_array_append_val (nodes, self->selected.index);
  return nodes;
}

void
adj_document_choose_more (AdjDocument *self, AdjNodeId node, gboolean toggle)
{
  g_autoptr (GArray) nodes = copy_selection (self);
  gboolean there = FALSE;

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graph == NULL || node.index >= adj_graph_get_n_nodes (self->graph->graph))
    return;
  for (guint i = nodes->len; i-- > 0;)
    if (g_array_index (nodes, guint32, i) == node.index)
      {
        there = TRUE;
        g_array_remove_index (nodes, i);
      }
  if (!there || !toggle)
    g_array_append_val (nodes, node.index);
  adj_document_choose (self, nodes);
}

void
adj_document_choose_neighbours (AdjDocument *self, gboolean users)
{
  g_autoptr (GArray) nodes = NULL, found = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  nodes = copy_selection (self);
  for (guint i = 0; i < nodes->len; i++)
    {
      const AdjNode *node =
          adj_graph_get_node (self->graph->graph, g_array_index (nodes, guint32, i));
      const AdjNodeId *next = users ? node->users : node->inputs;
      guint n = users ? node->n_users : node->n_inputs;

      for (guint k = 0; k < n; k++)
        if (g_hash_table_add (seen, GUINT_TO_POINTER (next[k].index)))
          g_array_append_val (found, next[k].index);
    }
  if (found->len > 0)
    adj_document_choose (self, found);
}

char *
adj_document_list_names (AdjDocument *self)
{
  g_autoptr (GArray) nodes = copy_selection (self);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (
        text, "%s%s", i > 0 ? "\n" : "",
        adj_graph_get_node (self->graph->graph, g_array_index (nodes, guint32, i))->name);
  return g_string_free (text, nodes->len == 0);
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
    {
      if (self->arrangement->chosen != NULL)
        set_chosen (self, NULL);
      select_node (self, place->node);
    }
  else
    {
      adj_document_show (self, place->graph, place->node);
    }
  adj_document_changed (self, PROP_HISTORY);
}

static void
choose_wanted (AdjDocument *self, GArray *nodes)
{
  if (nodes->len > 1)
    adj_document_choose (self, nodes);
  else
    adj_document_set_selected (
        self, nodes->len == 1 ? (AdjNodeId){ g_array_index (nodes, guint32, 0) } : ADJ_NO_NODE);
}

void
adj_document_want (AdjDocument *self, GArray *nodes)
{
  g_clear_pointer (&self->wanted, g_array_unref);
  self->wanted = nodes;
}

void
adj_document_take_wanted (AdjDocument *self)
{
  g_autoptr (GArray) nodes = g_steal_pointer (&self->wanted);

  if (nodes != NULL && nodes->len > 0)
    choose_wanted (self, nodes);
}

void
adj_document_show_nodes (AdjDocument *self, guint index, const GArray *nodes)
{
  g_autoptr (GArray) copy = g_array_copy ((GArray *) nodes);

  g_return_if_fail (ADJ_IS_DOCUMENT (self));

  if (self->graph == NULL || self->graph != adj_graph_set_get (self->graphs, index))
    {
      adj_document_want (self, g_steal_pointer (&copy));
      adj_document_set_graph_index (self, index);
    }
  else
    {
      adj_document_set_graph_index (self, index);
      choose_wanted (self, copy);
    }
}

void
adj_document_show (AdjDocument *self, guint index, AdjNodeId node)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (adj_node_id_is_valid (node))
    g_array_append_val (nodes, node.index);
  adj_document_show_nodes (self, index, nodes);
}
