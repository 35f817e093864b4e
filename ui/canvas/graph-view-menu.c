/* SPDX-License-Identifier: MIT */

/* The subject of a context menu of the canvas: a right click selects it. */

#include "canvas/graph-view-private.h"
#include "canvas/line-ends.h"
#include "ir/adj-graph.h"

static AdjMenu
take_line (AdjGraphView *self, const GArray *line)
{
  g_autoptr (GArray) ends = adj_line_get_ends (self->scene, self->graph, line, NULL);

  adj_graph_view_choose_nodes (self, ends);
  return ADJ_MENU_LINE;
}

static gboolean
stands_in (const AdjScene *scene, guint box, guint group)
{
  while (box != ADJ_NO_BOX && box != group)
    box = adj_scene_get_box (scene, box)->group;
  return box == group;
}

static AdjMenu
take_module (AdjGraphView *self, guint group)
{
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    if (stands_in (self->scene, adj_scene_find_node (self->scene, (AdjNodeId){ i }), group))
      g_array_append_val (nodes, i);
  adj_graph_view_choose_nodes (self, nodes);
  return ADJ_MENU_MODULE;
}

static gboolean
is_chosen (AdjGraphView *self, AdjNodeId node)
{
  for (guint i = 0; self->chosen != NULL && i < self->chosen->len; i++)
    if (g_array_index (self->chosen, guint32, i) == node.index)
      return TRUE;
  return FALSE;
}

/* Selects @node for the menu, unless it is part of the selection. */
static AdjMenu
take_node (AdjGraphView *self, AdjNodeId node)
{
  if (!is_chosen (self, node))
    adj_graph_view_choose_only (self, node);
  return ADJ_MENU_NODE;
}

static AdjMenu
take (AdjGraphView *self, double x, double y, const char **path)
{
  AdjPoint at = adj_camera_to_scene (&self->camera, x, y);
  guint hit = adj_scene_hit (self->scene, at.x, at.y);
  g_autoptr (GArray) line = adj_graph_view_line_at (self, hit, x, y);
  const AdjSceneBox *box = hit != ADJ_NO_BOX ? adj_scene_get_box (self->scene, hit) : NULL;

  if (line->len > 0)
    return take_line (self, line);
  if (box != NULL && adj_node_id_is_valid (box->node))
    return take_node (self, box->node);
  if (box == NULL || *box->path == '\0' || adj_graph_view_is_inside (self, hit, y))
    return ADJ_MENU_CANVAS;
  *path = box->path;
  return take_module (self, hit);
}

/* Beside the selected box, or in the middle. */
static GdkRectangle
place_for_key (AdjGraphView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  int width = gtk_widget_get_width (widget), height = gtk_widget_get_height (widget);
  guint box = adj_node_id_is_valid (self->selected)
                  ? adj_scene_find_node (self->scene, self->selected)
                  : ADJ_NO_BOX;
  AdjRect rect;

  if (box == ADJ_NO_BOX)
    return (GdkRectangle){ width / 2, height / 2, 1, 1 };
  rect = adj_camera_rect_to_widget (&self->camera, &adj_scene_get_box (self->scene, box)->rect);
  return (GdkRectangle){ (int) CLAMP (rect.x + rect.width / 2, 0, width - 1),
                         (int) CLAMP (rect.y + rect.height / 2, 0, height - 1), 1, 1 };
}

void
adj_graph_view_ask_menu (GtkWidget *widget, double x, double y, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  GdkRectangle place = { (int) x, (int) y, 1, 1 };
  const char *path = NULL;
  AdjMenu menu;

  if (self->scene == NULL)
    return;
  gtk_widget_grab_focus (widget);
  if (x < 0)
    {
      place = place_for_key (self);
      menu = adj_node_id_is_valid (self->selected) ? ADJ_MENU_NODE : ADJ_MENU_CANVAS;
    }
  else
    {
      /* The node is under the pointer, so revealing it must not move the picture. */
      self->is_pointing = TRUE;
      menu = take (self, x, y, &path);
      self->is_pointing = FALSE;
    }
  adj_graph_view_hover (self, ADJ_NO_BOX, ADJ_NO_BOX);
  adj_context_menu_open (widget, menu, path, &place);
}
