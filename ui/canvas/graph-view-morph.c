/* SPDX-License-Identifier: MIT */

/* Transitions between stages: common boxes keep their place. */

#include "canvas/graph-view-private.h"
#include "ir/adj-graph.h"
#include "model/adj-stages.h"

#define MORPH_USEC (300 * G_TIME_SPAN_MILLISECOND)

/* Per node of @next the node of the shown graph by adj_stages_find_named(). (transfer full): of
 * guint32 */
static GArray *
find_names (AdjGraphView *self, const AdjGraph *next)
{
  GArray *origins = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < adj_graph_get_n_nodes (next); i++)
    {
      AdjNodeId origin = adj_stages_find_named (next, (AdjNodeId){ i }, self->graph);

      g_array_append_val (origins, origin.index);
    }
  return origins;
}

/* The node of the next graph that the selected node corresponds to. */
static AdjNodeId
find_selected (AdjGraphView *self, const GArray *origins)
{
  for (guint i = 0; i < origins->len && adj_node_id_is_valid (self->selected); i++)
    if (g_array_index (origins, guint32, i) == self->selected.index)
      return (AdjNodeId){ i };
  return ADJ_NO_NODE;
}

void
adj_graph_view_stop_morph (AdjGraphView *self)
{
  if (self->morphing != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->morphing);
  self->morphing = 0;
  g_clear_pointer (&self->morph, adj_morph_free);
}

/* Time counts from the first frame, which is late when the new picture takes long to paint. */
static gboolean
morph_on (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  float done;

  if (self->morphing_since == 0)
    self->morphing_since = now;
  done = (float) (now - self->morphing_since) / (float) MORPH_USEC;
  gtk_widget_queue_draw (widget);
  if (done < 1)
    {
      adj_morph_set_progress (self->morph, MAX (done, 0));
      return G_SOURCE_CONTINUE;
    }
  self->morphing = 0;
  g_clear_pointer (&self->morph, adj_morph_free);
  return G_SOURCE_REMOVE;
}

gboolean
adj_graph_view_morph_to (AdjGraphView *self, AdjScene *next, const AdjGraph *graph)
{
  float width = gtk_widget_get_width (GTK_WIDGET (self));
  float height = gtk_widget_get_height (GTK_WIDGET (self));
  AdjRect visible = adj_camera_visible (&self->camera, width, height);
  g_autoptr (GArray) origins = NULL;
  g_autoptr (AdjMorph) morph = NULL;
  AdjPoint shift;

  adj_graph_view_stop_morph (self);
  if (self->scene == NULL || self->wants_fit || visible.width <= 0)
    return FALSE;
  origins = self->origins != NULL ? g_array_ref (self->origins) : find_names (self, graph);
  morph = adj_morph_new (self->scene, next, origins);
  if (!adj_morph_find_shift (morph, &visible, self->selected, &shift))
    return FALSE;
  self->kept = find_selected (self, origins);
  self->camera.x += shift.x;
  self->camera.y += shift.y;
  visible = adj_camera_visible (&self->camera, width, height);
  if (!adj_graph_view_may_animate (self) || !adj_morph_begin (morph, shift, &visible))
    return TRUE;
  self->morph = g_steal_pointer (&morph);
  self->morphing_since = 0;
  self->morphing = gtk_widget_add_tick_callback (GTK_WIDGET (self), morph_on, NULL, NULL);
  return TRUE;
}
