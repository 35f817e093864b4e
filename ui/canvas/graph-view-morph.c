/* SPDX-License-Identifier: MIT */

/* Stepping from stage to stage on a picture that stays: what is in both keeps its place. */

#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"

#define FADE_USEC (260 * G_TIME_SPAN_MILLISECOND)

typedef struct
{
  AdjGraphView *self;
  const AdjScene *next;
  AdjGraph *graph; /* of @next */
  AdjPoint middle;
  float least;
  AdjPoint shift;
} Search;

static gboolean
take (guint index, gpointer data)
{
  Search *search = data;
  const AdjSceneBox *box = adj_scene_get_box (search->self->scene, index);
  float x = box->rect.x + box->rect.width / 2, y = box->rect.y + box->rect.height / 2;
  float away = ABS (x - search->middle.x) + ABS (y - search->middle.y);
  AdjNodeId twin;
  guint found;

  if (box->kind != ADJ_BOX_NODE || !adj_node_id_is_valid (box->node) || away >= search->least)
    return TRUE;
  twin = adj_graph_find_node (search->graph,
                              adj_graph_get_node (search->self->graph, box->node.index)->name);
  found = adj_node_id_is_valid (twin) ? adj_scene_find_node (search->next, twin) : ADJ_NO_BOX;
  if (found == ADJ_NO_BOX)
    return TRUE;
  search->least = away;
  search->shift = (AdjPoint){ adj_scene_get_box (search->next, found)->rect.x - box->rect.x,
                              adj_scene_get_box (search->next, found)->rect.y - box->rect.y };
  return TRUE;
}

gboolean
adj_graph_view_keep_place (AdjGraphView *self, const AdjScene *next, AdjGraph *graph)
{
  AdjRect visible = adj_camera_visible (&self->camera, gtk_widget_get_width (GTK_WIDGET (self)),
                                        gtk_widget_get_height (GTK_WIDGET (self)));
  Search search = { .self = self, .next = next, .graph = graph, .least = G_MAXFLOAT };

  if (self->scene == NULL || self->wants_fit || visible.width <= 0)
    return FALSE;
  search.middle = (AdjPoint){ visible.x + visible.width / 2, visible.y + visible.height / 2 };
  adj_scene_foreach_box (self->scene, &visible, take, &search);
  if (search.least == G_MAXFLOAT)
    return FALSE;
  self->camera.x += search.shift.x;
  self->camera.y += search.shift.y;
  return TRUE;
}

/* -- fading -- */

void
adj_graph_view_stop_fade (AdjGraphView *self)
{
  if (self->fade != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->fade);
  self->fade = 0;
  g_clear_pointer (&self->ghost, gsk_render_node_unref);
}

float
adj_graph_view_get_fade (AdjGraphView *self)
{
  gint64 now;

  if (self->ghost == NULL)
    return 1;
  now = gdk_frame_clock_get_frame_time (gtk_widget_get_frame_clock (GTK_WIDGET (self)));
  return CLAMP ((float) (now - self->fading_since) / (float) FADE_USEC, 0, 1);
}

static gboolean
fade_on (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  gtk_widget_queue_draw (widget);
  if (adj_graph_view_get_fade (self) < 1)
    return G_SOURCE_CONTINUE;
  self->fade = 0;
  g_clear_pointer (&self->ghost, gsk_render_node_unref);
  return G_SOURCE_REMOVE;
}

void
adj_graph_view_begin_fade (AdjGraphView *self)
{
  gboolean allowed = FALSE;

  adj_graph_view_stop_fade (self);
  g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)), "gtk-enable-animations", &allowed,
                NULL);
  if (!allowed || self->frame == NULL || !gtk_widget_get_mapped (GTK_WIDGET (self)))
    return;
  self->ghost = gsk_render_node_ref (self->frame);
  self->fading_since =
      gdk_frame_clock_get_frame_time (gtk_widget_get_frame_clock (GTK_WIDGET (self)));
  self->fade = gtk_widget_add_tick_callback (GTK_WIDGET (self), fade_on, NULL, NULL);
}
