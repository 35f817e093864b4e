/* SPDX-License-Identifier: MIT */

/* Movements of the canvas camera. */

#include <math.h>

#include "canvas/graph-view-private.h"

#define MOVE_USEC 220000
#define FIT_MARGIN 24.0f
#define MIN_FIT 0.2f  /* zoom below which names cannot be read */
#define WORTH_IT 1.2f /* how much larger the fit to width must be to be used */
#define LEGEND 44.0f  /* height of the legend at the bottom of the canvas */
#define TITLES 20.0f  /* room above the picture for the titles of columns */
#define FRICTION 4.0f /* of inertia, per second */

void
adj_graph_view_stop_moving (AdjGraphView *self)
{
  if (self->tick != 0)
    gtk_widget_remove_tick_callback (GTK_WIDGET (self), self->tick);
  self->tick = 0;
}

static gboolean
move_on (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  float t = CLAMP ((now - self->moving_since) / (float) MOVE_USEC, 0, 1);
  float eased = 1 - (1 - t) * (1 - t) * (1 - t);

  self->camera = adj_camera_mix (&self->from, &self->to, eased);
  adj_graph_view_camera_changed (self);
  if (t < 1)
    return G_SOURCE_CONTINUE;
  self->tick = 0;
  return G_SOURCE_REMOVE;
}

gboolean
adj_graph_view_may_animate (AdjGraphView *self)
{
  gboolean allowed = FALSE;

  g_object_get (gtk_widget_get_settings (GTK_WIDGET (self)), "gtk-enable-animations", &allowed,
                NULL);
  return allowed && gtk_widget_get_mapped (GTK_WIDGET (self));
}

void
adj_graph_view_move_to (AdjGraphView *self, const AdjCamera *camera)
{
  adj_graph_view_stop_moving (self);
  if (!adj_graph_view_may_animate (self))
    {
      adj_graph_view_set_camera (self, camera);
      return;
    }
  self->from = self->camera;
  self->to = *camera;
  self->moving_since =
      gdk_frame_clock_get_frame_time (gtk_widget_get_frame_clock (GTK_WIDGET (self)));
  self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), move_on, NULL, NULL);
}

static gboolean
glide_on (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  gint64 now = gdk_frame_clock_get_frame_time (clock);
  float dt = MIN ((now - self->moving_since) / 1e6f, 0.1f), slower = expf (-FRICTION * dt);

  self->moving_since = now;
  adj_camera_pan (&self->camera, self->speed_x * dt, self->speed_y * dt);
  self->speed_x *= slower;
  self->speed_y *= slower;
  adj_graph_view_camera_changed (self);
  if (fabsf (self->speed_x) + fabsf (self->speed_y) > 20)
    return G_SOURCE_CONTINUE;
  self->tick = 0;
  return G_SOURCE_REMOVE;
}

void
adj_graph_view_glide (AdjGraphView *self, float speed_x, float speed_y)
{
  adj_graph_view_stop_moving (self);
  if (!adj_graph_view_may_animate (self) || fabsf (speed_x) + fabsf (speed_y) < 100)
    return;
  self->speed_x = speed_x;
  self->speed_y = speed_y;
  self->moving_since =
      gdk_frame_clock_get_frame_time (gtk_widget_get_frame_clock (GTK_WIDGET (self)));
  self->to = self->camera;
  self->tick = gtk_widget_add_tick_callback (GTK_WIDGET (self), glide_on, NULL, NULL);
}

AdjCamera
adj_graph_view_get_camera (AdjGraphView *self)
{
  return self->camera;
}

void
adj_graph_view_set_camera (AdjGraphView *self, const AdjCamera *camera)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  adj_graph_view_stop_moving (self);
  self->wants_fit = FALSE;
  self->camera = *camera;
  adj_graph_view_camera_changed (self);
}

void
adj_graph_view_restore_camera (AdjGraphView *self, const AdjCamera *camera)
{
  adj_graph_view_set_camera (self, camera);
  self->wants_sight = TRUE;
  gtk_widget_queue_allocate (GTK_WIDGET (self));
}

static AdjCamera
fitting (AdjGraphView *self, const AdjRect *rect, float max_zoom)
{
  GtkWidget *widget = GTK_WIDGET (self);
  AdjCamera camera = self->camera;
  AdjRect around = { rect->x - FIT_MARGIN, rect->y - FIT_MARGIN, rect->width + 2 * FIT_MARGIN,
                     rect->height + 2 * FIT_MARGIN };

  adj_camera_fit (&camera, &around, gtk_widget_get_width (widget),
                  MAX (gtk_widget_get_height (widget) - LEGEND - TITLES, 1), max_zoom);
  camera.y -= TITLES / camera.zoom;
  return camera;
}

/* The camera that fits the width of the picture and keeps the middle in place vertically. */
static AdjCamera
fitting_width (AdjGraphView *self, const AdjRect *bounds)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  AdjCamera camera = self->camera;
  AdjPoint middle = { bounds->x + bounds->width / 2,
                      self->camera.y + (float) height / self->camera.zoom / 2 };

  camera.zoom = CLAMP (((float) width - 2 * FIT_MARGIN) / MAX (bounds->width, 1), ADJ_ZOOM_MIN, 1);
  adj_camera_center_on (&camera, middle, width, height);
  adj_camera_clamp (&camera, bounds, width, height);
  return camera;
}

static gboolean
is_near (const AdjCamera *a, const AdjCamera *b)
{
  return fabsf (a->zoom - b->zoom) < 1e-3f && fabsf (a->x - b->x) * a->zoom < 2 &&
         fabsf (a->y - b->y) * a->zoom < 2;
}

/* Fits the whole picture, if names are readable then; else its width, and the whole picture when it
 * is called again. */
void
adj_graph_view_fit (AdjGraphView *self)
{
  AdjRect bounds;
  AdjCamera camera, wide;

  if (self->scene == NULL)
    return;
  bounds = adj_scene_get_bounds (self->scene);
  camera = fitting (self, &bounds, 1);
  wide = fitting_width (self, &bounds);
  if (camera.zoom < MIN_FIT && wide.zoom > camera.zoom * WORTH_IT &&
      !is_near (&self->camera, &wide))
    camera = wide;
  adj_graph_view_move_to (self, &camera);
}

static void
join (AdjRect *rect, const AdjRect *other)
{
  float right = MAX (rect->x + rect->width, other->x + other->width);
  float bottom = MAX (rect->y + rect->height, other->y + other->height);

  rect->x = MIN (rect->x, other->x);
  rect->y = MIN (rect->y, other->y);
  rect->width = right - rect->x;
  rect->height = bottom - rect->y;
}

static void
join_node (AdjGraphView *self, AdjRect *rect, AdjNodeId node)
{
  guint box = adj_node_id_is_valid (node) ? adj_scene_find_node (self->scene, node) : ADJ_NO_BOX;

  if (box != ADJ_NO_BOX)
    join (rect, &adj_scene_get_box (self->scene, box)->rect);
}

/* Margin around the selection, in scene units, to show the beginning of lines. */
#define AROUND_SELECTED 24.0f

gboolean
adj_graph_view_get_around_selected (AdjGraphView *self, AdjRect *rect)
{
  AdjRect none = { G_MAXFLOAT / 4, G_MAXFLOAT / 4, -G_MAXFLOAT / 2, -G_MAXFLOAT / 2 };

  *rect = none;
  if (self->scene == NULL)
    return FALSE;
  join_node (self, rect, self->selected);
  for (guint i = 0; self->chosen != NULL && i < self->chosen->len; i++)
    join_node (self, rect, (AdjNodeId){ g_array_index (self->chosen, guint32, i) });
  if (rect->width < 0)
    return FALSE;
  *rect = (AdjRect){ rect->x - AROUND_SELECTED, rect->y - AROUND_SELECTED,
                     rect->width + 2 * AROUND_SELECTED, rect->height + 2 * AROUND_SELECTED };
  return TRUE;
}

gboolean
adj_graph_view_get_visible (AdjGraphView *self, AdjRect *rect)
{
  AdjRect bounds;
  float right, bottom;

  if (self->scene == NULL)
    return FALSE;
  *rect = adj_camera_visible (&self->camera, gtk_widget_get_width (GTK_WIDGET (self)),
                              gtk_widget_get_height (GTK_WIDGET (self)));
  bounds = adj_scene_get_bounds (self->scene);
  right = MIN (rect->x + rect->width, bounds.x + bounds.width);
  bottom = MIN (rect->y + rect->height, bounds.y + bounds.height);
  rect->x = MAX (rect->x, bounds.x);
  rect->y = MAX (rect->y, bounds.y);
  rect->width = right - rect->x;
  rect->height = bottom - rect->y;
  return rect->width > 0 && rect->height > 0;
}

gboolean
adj_graph_view_shows_all (AdjGraphView *self)
{
  AdjRect bounds, visible;

  g_return_val_if_fail (ADJ_IS_GRAPH_VIEW (self), FALSE);

  if (self->scene == NULL || !adj_graph_view_get_visible (self, &visible))
    return FALSE;
  bounds = adj_scene_get_bounds (self->scene);
  return visible.width >= bounds.width && visible.height >= bounds.height;
}

/* Shows the selected node, its counterpart and its recompute copy. */
void
adj_graph_view_fit_selection (AdjGraphView *self)
{
  guint box = self->scene != NULL && adj_node_id_is_valid (self->selected)
                  ? adj_scene_find_node (self->scene, self->selected)
                  : ADJ_NO_BOX;
  AdjRect rect;
  AdjCamera camera;

  if (box == ADJ_NO_BOX)
    return;
  rect = adj_scene_get_box (self->scene, box)->rect;
  join_node (self, &rect, adj_scene_get_counterpart (self->scene, self->selected));
  join_node (self, &rect, adj_scene_get_original (self->scene, self->selected));
  join_node (self, &rect, adj_scene_get_copy (self->scene, self->selected));
  rect = (AdjRect){ rect.x - 60, rect.y - 150, rect.width + 120, rect.height + 300 };
  camera = fitting (self, &rect, 1.25f);
  adj_graph_view_move_to (self, &camera);
}

void
adj_graph_view_zoom_by (AdjGraphView *self, float factor)
{
  AdjCamera camera = self->camera;

  adj_camera_zoom_at (&camera, factor, gtk_widget_get_width (GTK_WIDGET (self)) / 2.0f,
                      gtk_widget_get_height (GTK_WIDGET (self)) / 2.0f);
  adj_graph_view_move_to (self, &camera);
}

void
adj_graph_view_zoom_to (AdjGraphView *self, float zoom)
{
  adj_graph_view_zoom_by (self, zoom / self->camera.zoom);
}

static gboolean
count_node (guint index, gpointer data)
{
  g_array_append_val ((GArray *) data, index);
  return TRUE;
}

guint
adj_graph_view_count_visible (AdjGraphView *self)
{
  g_autoptr (GArray) boxes = g_array_new (FALSE, FALSE, sizeof (guint));
  AdjRect visible = adj_camera_visible (&self->camera, gtk_widget_get_width (GTK_WIDGET (self)),
                                        gtk_widget_get_height (GTK_WIDGET (self)));
  guint n = 0;

  if (self->scene == NULL)
    return 0;
  adj_scene_foreach_box (self->scene, &visible, count_node, boxes);
  for (guint i = 0; i < boxes->len; i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (self->scene, g_array_index (boxes, guint, i));

      if (box->kind == ADJ_BOX_NODE || box->kind == ADJ_BOX_PILL ||
          (box->kind == ADJ_BOX_GROUP && box->fold == ADJ_FOLD_CLOSED))
        n += MAX (box->n_nodes, 1);
    }
  return n;
}

/* Shows a graph that is much taller than the window from its top, at a readable size. */
void
adj_graph_view_fit_first (AdjGraphView *self, int width, int height)
{
  AdjRect bounds = adj_scene_get_bounds (self->scene);
  guint selected = adj_node_id_is_valid (self->selected)
                       ? adj_scene_find_node (self->scene, self->selected)
                       : ADJ_NO_BOX;

  self->wants_fit = FALSE;
  self->camera = fitting (self, &bounds, 1);
  if (self->wants_selected && selected != ADJ_NO_BOX)
    {
      const AdjRect *rect = &adj_scene_get_box (self->scene, selected)->rect;
      AdjPoint middle = { rect->x + rect->width / 2, rect->y + rect->height / 2 };

      self->camera.zoom = MAX (self->camera.zoom, ADJ_READABLE_ZOOM);
      adj_camera_center_on (&self->camera, middle, width, height);
      adj_camera_clamp (&self->camera, &bounds, width, height);
    }
  else if (self->camera.zoom < 0.45f)
    {
      float zoom = CLAMP ((width - FIT_MARGIN) / MAX (bounds.width, 1), self->camera.zoom, 0.9f);

      self->camera.zoom = zoom;
      self->camera.x = bounds.x + bounds.width / 2 - width / zoom / 2;
      self->camera.y = bounds.y - TITLES / zoom;
    }
  self->wants_selected = FALSE;
}
