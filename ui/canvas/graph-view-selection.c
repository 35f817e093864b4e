/* SPDX-License-Identifier: MIT */
/* The selected, chosen and highlighted nodes of the picture, and their announcements. */

#include <glib/gi18n.h>

#include "canvas/adj-navigator.h"
#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"
#include "report/adj-properties.h"

/* Sets the text for screen readers, which walk the graph by the outline beside the canvas. */
static void
describe (AdjGraphView *self)
{
  g_autofree char *text = NULL;
  AdjRole role = ADJ_ROLE_NONE;

  if (self->graph != NULL && adj_node_id_is_valid (self->selected))
    {
      guint box = adj_scene_find_node (self->scene, self->selected);

      if (box != ADJ_NO_BOX)
        role = adj_scene_get_box (self->scene, box)->role;
      text = adj_properties_describe_node (self->graph, self->selected, role);
      if (box != ADJ_NO_BOX && adj_scene_get_box (self->scene, box)->fold == ADJ_FOLD_CLOSED)
        {
          g_autofree char *node = text;

          text = g_strdup_printf (_ ("%s, in %s, which is closed"), node,
                                  adj_scene_get_box (self->scene, box)->title);
        }
      if (self->chosen != NULL)
        {
          g_autofree char *one = text;

          text =
              g_strdup_printf (_ ("%u nodes are selected, the last: %s"), self->chosen->len, one);
        }
    }
  else
    text = g_strdup (_ ("No node is selected"));
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Graph canvas"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text,
                                  -1);
}

void
adj_graph_view_announce_selection (AdjGraphView *self)
{
  describe (self);
  adj_graph_view_update_actions (self);
}

/* Whether it is in a closed module, whose inputs are those of many nodes. */
static gboolean
is_in_closed (AdjGraphView *self, AdjNodeId node)
{
  guint box = adj_scene_find_node (self->scene, node);

  return box != ADJ_NO_BOX && adj_scene_get_box (self->scene, box)->fold == ADJ_FOLD_CLOSED;
}

void
adj_graph_view_update_highlight (AdjGraphView *self)
{
  g_clear_pointer (&self->highlight, adj_highlight_free);
  if (self->scene != NULL && self->lit != NULL)
    self->highlight = adj_highlight_new_for_nodes (self->scene, self->lit, FALSE);
  else if (self->scene != NULL && self->chosen != NULL)
    self->highlight = adj_highlight_new_for_nodes (self->scene, self->chosen, TRUE);
  else if (self->scene != NULL && self->graph != NULL && adj_node_id_is_valid (self->selected) &&
           !is_in_closed (self, self->selected))
    self->highlight = adj_highlight_new_for_node (self->scene, self->graph, self->selected);
  else if (self->scene != NULL && self->role != ADJ_ROLE_NONE)
    self->highlight = adj_highlight_new_for_role (self->scene, self->role);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

AdjNodeId
adj_graph_view_get_selected (AdjGraphView *self)
{
  return self->selected;
}

void
adj_graph_view_set_selected (AdjGraphView *self, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  if (self->graph == NULL || node.index >= adj_graph_get_n_nodes (self->graph))
    node = ADJ_NO_NODE;
  if (self->selected.index == node.index)
    return;
  self->selected = node;
  self->value = ADJ_NO_NODE;
  adj_graph_view_update_highlight (self);
  adj_graph_view_announce_selection (self);
  g_object_notify (G_OBJECT (self), "selected");
}

void
adj_graph_view_choose (AdjGraphView *self, AdjNodeId node)
{
  adj_graph_view_set_selected (self, node);
  if (adj_node_id_is_valid (self->selected))
    adj_graph_view_reveal (self, self->selected);
}

void
adj_graph_view_set_chosen (AdjGraphView *self, GArray *nodes)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  if (nodes != NULL)
    g_array_ref (nodes);
  g_clear_pointer (&self->chosen, g_array_unref);
  self->chosen = nodes;
  adj_graph_view_update_highlight (self);
  adj_graph_view_announce_selection (self);
}

void
adj_graph_view_add (AdjGraphView *self, AdjNodeId node, gboolean toggle)
{
  g_signal_emit_by_name (self, "node-added", node.index, toggle);
}

void
adj_graph_view_choose_nodes (AdjGraphView *self, GArray *nodes)
{
  g_signal_emit_by_name (self, "nodes-chosen", nodes);
}

void
adj_graph_view_choose_only (AdjGraphView *self, AdjNodeId node)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (adj_node_id_is_valid (node))
    g_array_append_val (nodes, node.index);
  adj_graph_view_choose_nodes (self, nodes);
}

typedef struct
{
  const AdjScene *scene;
  GArray *nodes; /* of guint32 */
} Choosing;

static gboolean
add_stop (guint index, gpointer data)
{
  Choosing *choosing = data;
  const AdjSceneBox *box = adj_scene_get_box (choosing->scene, index);

  if (adj_navigator_is_stop (box) && (box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL))
    g_array_append_val (choosing->nodes, box->node.index);
  return TRUE;
}

void
adj_graph_view_choose_in (AdjGraphView *self, const AdjRect *rect)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  Choosing choosing = { self->scene, nodes };
  AdjRect bounds;

  if (self->scene == NULL)
    return;
  bounds = adj_scene_get_bounds (self->scene);
  adj_scene_foreach_box (self->scene, rect != NULL ? rect : &bounds, add_stop, &choosing);
  adj_graph_view_choose_nodes (self, nodes);
}

void
adj_graph_view_set_role (AdjGraphView *self, AdjRole role)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  if (role == self->role)
    return;
  self->role = role;
  if (role != ADJ_ROLE_NONE)
    adj_graph_view_set_selected (self, ADJ_NO_NODE);
  adj_graph_view_update_actions (self);
  adj_graph_view_update_highlight (self);
  g_object_notify (G_OBJECT (self), "role");
}

AdjRole
adj_graph_view_get_role (AdjGraphView *self)
{
  return self->role;
}

void
adj_graph_view_set_lit (AdjGraphView *self, GArray *nodes)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  if (nodes != NULL)
    g_array_ref (nodes);
  g_clear_pointer (&self->lit, g_array_unref);
  self->lit = nodes;
  adj_graph_view_update_highlight (self);
  g_signal_emit_by_name (self, "camera-changed");
}

GArray *
adj_graph_view_get_lit (AdjGraphView *self)
{
  return self->lit;
}
