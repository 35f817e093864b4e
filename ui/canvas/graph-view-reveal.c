/* SPDX-License-Identifier: MIT */

/* Brings the selection into view, clear of the covers of the canvas. */

#include <string.h>

#include "canvas/graph-view-private.h"

#define CLEAR 8.0f /* distance between a node and a cover */

void
adj_graph_view_add_cover (AdjGraphView *self, GtkWidget *cover)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  g_ptr_array_add (self->covers, g_object_ref (cover));
}

/* The shift that brings an interval between the margins; if it is too long, its beginning. */
static float
needed_shift (float begin, float size, float shown, float margin)
{
  if (begin < margin || size + 2 * margin > shown)
    return begin - margin;
  return MAX (begin + size - (shown - margin), 0);
}

/* The bounds of a popover, which has a surface of its own, without its shadow. */
static gboolean
get_popover (AdjGraphView *self, GtkWidget *popover, graphene_rect_t *bounds)
{
  GtkNative *window = gtk_widget_get_native (GTK_WIDGET (self));
  GdkSurface *surface = gtk_native_get_surface (GTK_NATIVE (popover));
  double dx, dy, x, y;

  if (!gtk_widget_translate_coordinates (GTK_WIDGET (self), GTK_WIDGET (window), 0, 0, &x, &y))
    return FALSE;
  gtk_native_get_surface_transform (window, &dx, &dy);
  graphene_rect_init (bounds, (float) (gdk_popup_get_position_x (GDK_POPUP (surface)) - dx - x),
                      (float) (gdk_popup_get_position_y (GDK_POPUP (surface)) - dy - y),
                      (float) gdk_surface_get_width (surface),
                      (float) gdk_surface_get_height (surface));
  return TRUE;
}

/* Where @cover is on the canvas; %FALSE where it is not shown. */
static gboolean
get_cover (AdjGraphView *self, GtkWidget *cover, AdjRect *rect)
{
  graphene_rect_t bounds;

  if (!gtk_widget_get_mapped (cover) ||
      !(GTK_IS_POPOVER (cover) ? get_popover (self, cover, &bounds)
                               : gtk_widget_compute_bounds (cover, GTK_WIDGET (self), &bounds)))
    return FALSE;
  *rect = (AdjRect){ bounds.origin.x - CLEAR, bounds.origin.y - CLEAR,
                     bounds.size.width + 2 * CLEAR, bounds.size.height + 2 * CLEAR };
  return TRUE;
}

static gboolean
overlap (const AdjRect *a, const AdjRect *b)
{
  return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height &&
         b->y < a->y + a->height;
}

/* Moves the picture left, up or down, by the least that keeps @rect in view, out from under covers,
 * which are at the right or bottom, or hang from the top. */
static void
uncover (AdjGraphView *self, AdjCamera *camera, const AdjRect *rect)
{
  float height = gtk_widget_get_height (GTK_WIDGET (self));

  for (guint i = 0; i < self->covers->len; i++)
    {
      AdjRect at = adj_camera_rect_to_widget (camera, rect), cover;
      float up, left, down;

      if (!get_cover (self, self->covers->pdata[i], &cover) || !overlap (&at, &cover))
        continue;
      up = at.y + at.height - cover.y;
      left = at.x + at.width - cover.x;
      down = cover.y + cover.height - at.y;
      if (left < MIN (up, down) && at.x - left > 0)
        adj_camera_pan (camera, -left, 0);
      else if (down < up && at.y + down + at.height < height)
        adj_camera_pan (camera, 0, down);
      else
        adj_camera_pan (camera, 0, -up);
    }
}

static const AdjRect *
find_rect (AdjGraphView *self, AdjNodeId node)
{
  guint box = self->scene != NULL && adj_node_id_is_valid (node)
                  ? adj_scene_find_node (self->scene, node)
                  : ADJ_NO_BOX;

  return box != ADJ_NO_BOX ? &adj_scene_get_box (self->scene, box)->rect : NULL;
}

static void
move_into_view (AdjGraphView *self, AdjCamera *camera, const AdjRect *rect, float margin)
{
  float width = gtk_widget_get_width (GTK_WIDGET (self));
  float height = gtk_widget_get_height (GTK_WIDGET (self));
  AdjRect at = adj_camera_rect_to_widget (camera, rect);

  adj_camera_pan (camera, -needed_shift (at.x, at.width, width, width * margin / 2),
                  -needed_shift (at.y, at.height, height, height * margin));
  uncover (self, camera, rect);
  if (!adj_camera_equal (camera, &self->camera))
    adj_graph_view_move_to (self, camera);
}

/* Whether the last transition kept the node in place and in view; can be asked once. */
static gboolean
was_kept (AdjGraphView *self, AdjNodeId node, const AdjRect *rect)
{
  AdjRect at = adj_camera_rect_to_widget (&self->camera, rect);
  AdjRect all = { 0, 0, gtk_widget_get_width (GTK_WIDGET (self)),
                  gtk_widget_get_height (GTK_WIDGET (self)) };
  gboolean kept = node.index == self->kept.index;

  self->kept = ADJ_NO_NODE;
  return kept && overlap (&at, &all);
}

void
adj_graph_view_reveal (AdjGraphView *self, AdjNodeId node)
{
  float width = gtk_widget_get_width (GTK_WIDGET (self));
  float height = gtk_widget_get_height (GTK_WIDGET (self));
  const AdjRect *rect = find_rect (self, node);
  AdjCamera camera = self->tick != 0 ? self->to : self->camera;

  if (rect == NULL || self->is_pointing)
    return;
  if (width <= 0 || self->wants_fit)
    {
      self->wants_selected = TRUE;
      return;
    }
  if (was_kept (self, node, rect))
    return;
  if (camera.zoom < ADJ_READABLE_ZOOM)
    adj_camera_zoom_at (&camera, ADJ_READABLE_ZOOM / camera.zoom, width / 2, height / 2);
  move_into_view (self, &camera, rect, 0.25f);
}

/* Whether it was in view before the canvas shrank, which also moves the covers. */
static gboolean
is_cut (const AdjRect *at, int old_width, int old_height, int width, int height)
{
  AdjRect before = { 0, 0, (float) old_width, (float) old_height };

  return overlap (at, &before) && (width < old_width || height < old_height);
}

/* Keeps the vertical middle in place while the top of the picture is above the canvas, so that a
 * panel below can open and close without a shift. */
static void
keep_middle (AdjGraphView *self, int height)
{
  AdjRect bounds = adj_scene_get_bounds (self->scene);
  float y = self->camera.y + (float) (self->last_height - height) / 2 / self->camera.zoom;

  if (self->camera.y > bounds.y && self->last_height > 0)
    self->camera.y = MAX (y, bounds.y);
}

void
adj_graph_view_resized (AdjGraphView *self, int width, int height)
{
  const AdjRect *rect = find_rect (self, self->selected);
  AdjRect at;

  if (rect != NULL && !self->wants_fit)
    {
      at = adj_camera_rect_to_widget (&self->camera, rect);
      if (is_cut (&at, self->last_width, self->last_height, width, height))
        self->cuts_selected = TRUE;
    }
  if (self->scene != NULL && self->tick == 0 && !self->wants_fit && height != self->last_height)
    keep_middle (self, height);
  self->last_width = width;
  self->last_height = height;
}

void
adj_graph_view_show_cut (AdjGraphView *self)
{
  const AdjRect *rect = find_rect (self, self->selected);
  AdjCamera camera = self->tick != 0 ? self->to : self->camera;

  if (!self->cuts_selected)
    return;
  self->cuts_selected = FALSE;
  if (rect != NULL)
    move_into_view (self, &camera, rect, 0.04f);
}

/* Runs in the second frame, since covers are allocated in the first. */
static gboolean
on_frame (GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (self->uncovering_frames-- > 0)
    return G_SOURCE_CONTINUE;
  self->uncovering = 0;
  self->cuts_selected = TRUE;
  adj_graph_view_show_cut (self);
  return G_SOURCE_REMOVE;
}

void
adj_graph_view_uncover_soon (AdjGraphView *self)
{
  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  self->uncovering_frames = 1;
  if (self->uncovering == 0)
    self->uncovering = gtk_widget_add_tick_callback (GTK_WIDGET (self), on_frame, NULL, NULL);
}

/* -- modules that open and close -- */

static float
distance (const AdjRect *rect, AdjPoint at)
{
  float dx = MAX (MAX (rect->x - at.x, at.x - rect->x - rect->width), 0);
  float dy = MAX (MAX (rect->y - at.y, at.y - rect->y - rect->height), 0);

  return dx + dy;
}

/* Keeps the outermost module nearest to the middle in place. */
void
adj_graph_view_keep_middle (AdjGraphView *self)
{
  AdjPoint middle =
      adj_camera_to_scene (&self->camera, gtk_widget_get_width (GTK_WIDGET (self)) / 2.0f,
                           gtk_widget_get_height (GTK_WIDGET (self)) / 2.0f);
  float least = G_MAXFLOAT;
  gsize shortest = G_MAXSIZE;

  g_return_if_fail (ADJ_IS_GRAPH_VIEW (self));

  for (guint i = 0; self->scene != NULL && i < adj_scene_get_n_boxes (self->scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (self->scene, i);
      float away = box->kind == ADJ_BOX_GROUP ? distance (&box->rect, middle) : G_MAXFLOAT;

      if (away < least || (away == least && away < G_MAXFLOAT && strlen (box->path) < shortest))
        {
          least = away;
          shortest = strlen (box->path);
          self->anchor = i;
        }
    }
}

/* Keeps the corner of the box in place; if it was out of view, brings it into view. */
void
adj_graph_view_keep_box (AdjGraphView *self, const AdjRect *before, const AdjRect *after)
{
  float width = gtk_widget_get_width (GTK_WIDGET (self));
  float height = gtk_widget_get_height (GTK_WIDGET (self));
  AdjRect at, all = { 0, 0, width, height };

  self->camera.x += after->x - before->x;
  self->camera.y += after->y - before->y;
  at = adj_camera_rect_to_widget (&self->camera, after);
  if (overlap (&at, &all))
    return;
  adj_camera_pan (&self->camera, -needed_shift (at.x, at.width, width, width * 0.1f),
                  -needed_shift (at.y, at.height, height, height * 0.1f));
}
