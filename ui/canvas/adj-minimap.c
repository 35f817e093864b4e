/* SPDX-License-Identifier: MIT */
/* The minimap: the whole scene, with a frame around the visible part. */

#include "canvas/adj-minimap.h"

#include <glib/gi18n.h>

#include "canvas/adj-scene-painter.h"

#define WIDTH 92.0f
#define MAX_HEIGHT 150.0f
#define PADDING 6.0f
#define MIN_SIDE 36.0f /* of the picture */

struct _AdjMinimap
{
  GtkWidget parent_instance;

  AdjGraphView *view;     /* (unowned) */
  GskRenderNode *picture; /* (owned) (nullable): of @scene in @scheme */
  AdjScene *scene;        /* (owned) (nullable): what the picture is of */
  AdjScheme scheme;
  AdjPoint grabbed;
};

G_DEFINE_FINAL_TYPE (AdjMinimap, adj_minimap, GTK_TYPE_WIDGET)

/* Scale from scene units to pixels that fits everything; x and y differ where the picture would be
 * too thin. */
static AdjPoint
scale_of (AdjMinimap *self)
{
  AdjScene *scene = self->view != NULL ? adj_graph_view_get_scene (self->view) : NULL;
  AdjRect bounds;
  float scale;

  if (scene == NULL)
    return (AdjPoint){ 0, 0 };
  bounds = adj_scene_get_bounds (scene);
  bounds.width = MAX (bounds.width, 1);
  bounds.height = MAX (bounds.height, 1);
  scale = MIN ((WIDTH - 2 * PADDING) / bounds.width, (MAX_HEIGHT - 2 * PADDING) / bounds.height);
  return (AdjPoint){ MAX (scale, MIN_SIDE / bounds.width), MAX (scale, MIN_SIDE / bounds.height) };
}

static AdjPoint
origin_of (AdjMinimap *self)
{
  AdjRect bounds = adj_scene_get_bounds (adj_graph_view_get_scene (self->view));
  AdjPoint scale = scale_of (self);

  return (AdjPoint){ (gtk_widget_get_width (GTK_WIDGET (self)) - bounds.width * scale.x) / 2,
                     (gtk_widget_get_height (GTK_WIDGET (self)) - bounds.height * scale.y) / 2 };
}

static void
append (GtkSnapshot *snapshot, const AdjRect *rect, AdjPoint scale, const AdjColor *color)
{
  GdkRGBA rgba = adj_color_to_rgba (color);

  gtk_snapshot_append_color (snapshot, &rgba,
                             &GRAPHENE_RECT_INIT (rect->x * scale.x, rect->y * scale.y,
                                                  MAX (rect->width * scale.x, 1),
                                                  MAX (rect->height * scale.y, 1)));
}

static GskRenderNode *
draw (AdjScene *scene, AdjScheme scheme, AdjPoint scale)
{
  const AdjPalette *palette = adj_palette_get (scheme);
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  AdjColor forward = palette->dim_text, backward = palette->edges[ADJ_EDGE_GRADIENT];

  forward.alpha = 0.13f;
  backward.alpha = 0.13f;
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_GROUP && box->fold != ADJ_FOLD_CLOSED && box->group == ADJ_NO_BOX)
        append (snapshot, &box->rect, scale, box->side == ADJ_SIDE_BACKWARD ? &backward : &forward);
    }
  forward.alpha = 0.4f;
  backward.alpha = 0.4f;
  for (guint i = 0; i < adj_scene_get_n_boxes (scene); i++)
    {
      const AdjSceneBox *box = adj_scene_get_box (scene, i);

      if (box->kind == ADJ_BOX_NODE || (box->kind == ADJ_BOX_GROUP && box->fold == ADJ_FOLD_CLOSED))
        append (snapshot, &box->rect, scale, box->side == ADJ_SIDE_BACKWARD ? &backward : &forward);
    }
  for (guint i = 0; i < adj_scene_get_n_edges (scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (scene, i);

      for (guint k = 1; edge->kind == ADJ_EDGE_BRIDGE && k < edge->n_points; k++)
        {
          AdjPoint a = edge->points[k - 1], b = edge->points[k];
          AdjRect rect = { MIN (a.x, b.x), MIN (a.y, b.y), ABS (a.x - b.x), ABS (a.y - b.y) };

          append (snapshot, &rect, scale, &palette->edges[ADJ_EDGE_BRIDGE]);
        }
    }
  return gtk_snapshot_free_to_node (snapshot);
}

/* The visible part of the picture with a margin. */
static AdjRect
visible_part (AdjMinimap *self, const AdjCamera *camera)
{
  AdjRect bounds = adj_scene_get_bounds (adj_graph_view_get_scene (self->view));
  AdjRect seen = adj_camera_visible (camera, gtk_widget_get_width (GTK_WIDGET (self->view)),
                                     gtk_widget_get_height (GTK_WIDGET (self->view)));
  AdjPoint scale = scale_of (self), margin = { (PADDING - 2) / scale.x, (PADDING - 2) / scale.y };
  float x0 = MAX (seen.x, -margin.x), x1 = MIN (seen.x + seen.width, bounds.width + margin.x);
  float y0 = MAX (seen.y, -margin.y), y1 = MIN (seen.y + seen.height, bounds.height + margin.y);

  return (AdjRect){ x0, y0, MAX (x1 - x0, 0), MAX (y1 - y0, 0) };
}

/* Paints the highlighted nodes: search results, or nodes alive at a step. */
static void
paint_lit (AdjMinimap *self, GtkSnapshot *snapshot, AdjPoint scale)
{
  AdjScene *scene = adj_graph_view_get_scene (self->view);
  GArray *lit = adj_graph_view_get_lit (self->view);
  const AdjColor *color = &adj_palette_get (adj_scheme_from_style ())->selection;

  for (guint i = 0; lit != NULL && i < lit->len; i++)
    {
      guint box = adj_scene_find_node (scene, (AdjNodeId){ g_array_index (lit, guint32, i) });

      if (box != ADJ_NO_BOX)
        append (snapshot, &adj_scene_get_box (scene, box)->rect, scale, color);
    }
}

static void
adj_minimap_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjMinimap *self = ADJ_MINIMAP (widget);
  AdjScene *scene = self->view != NULL ? adj_graph_view_get_scene (self->view) : NULL;
  AdjScheme scheme = adj_scheme_from_style ();
  GdkRGBA color = adj_color_to_rgba (&adj_palette_get (scheme)->selection);
  AdjPoint scale = scale_of (self), origin;
  AdjCamera camera;
  AdjRect seen;
  GskRoundedRect frame;

  if (scene == NULL || scale.x <= 0)
    return;
  if (self->scene != scene || self->scheme != scheme)
    {
      g_clear_pointer (&self->picture, gsk_render_node_unref);
      self->picture = draw (scene, scheme, scale);
      g_clear_pointer (&self->scene, adj_scene_unref);
      self->scene = adj_scene_ref (scene);
      self->scheme = scheme;
    }
  origin = origin_of (self);
  camera = adj_graph_view_get_camera (self->view);
  seen = visible_part (self, &camera);

  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, gtk_widget_get_width (widget),
                                                         gtk_widget_get_height (widget)));
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (origin.x, origin.y));
  if (self->picture != NULL)
    gtk_snapshot_append_node (snapshot, self->picture);
  paint_lit (self, snapshot, scale);
  gsk_rounded_rect_init_from_rect (&frame,
                                   &GRAPHENE_RECT_INIT (seen.x * scale.x, seen.y * scale.y,
                                                        seen.width * scale.x,
                                                        seen.height * scale.y),
                                   3);
  gtk_snapshot_append_border (snapshot, &frame, (float[4]){ 2, 2, 2, 2 },
                              (GdkRGBA[4]){ color, color, color, color });
  gtk_snapshot_pop (snapshot);
}

static void
go_to (AdjMinimap *self, float x, float y)
{
  AdjScene *scene = self->view != NULL ? adj_graph_view_get_scene (self->view) : NULL;
  AdjPoint scale = scale_of (self), origin;
  AdjCamera camera;

  if (scene == NULL || scale.x <= 0)
    return;
  origin = origin_of (self);
  camera = adj_graph_view_get_camera (self->view);
  adj_camera_center_on (&camera, (AdjPoint){ (x - origin.x) / scale.x, (y - origin.y) / scale.y },
                        gtk_widget_get_width (GTK_WIDGET (self->view)),
                        gtk_widget_get_height (GTK_WIDGET (self->view)));
  adj_graph_view_set_camera (self->view, &camera);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, AdjMinimap *self)
{
  self->grabbed = (AdjPoint){ x, y };
  go_to (self, x, y);
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, AdjMinimap *self)
{
  go_to (self, self->grabbed.x + dx, self->grabbed.y + dy);
}

static void
adj_minimap_measure (GtkWidget *widget,
                     GtkOrientation orientation,
                     int for_size,
                     int *minimum,
                     int *natural,
                     int *minimum_baseline,
                     int *natural_baseline)
{
  AdjMinimap *self = ADJ_MINIMAP (widget);
  AdjScene *scene = self->view != NULL ? adj_graph_view_get_scene (self->view) : NULL;
  AdjRect bounds = scene != NULL ? adj_scene_get_bounds (scene) : (AdjRect){ 0, 0, 1, 1 };

  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    *minimum = *natural = WIDTH;
  else
    *minimum = *natural = MAX (bounds.height * scale_of (self).y + 2 * PADDING, 40);
}

static void
adj_minimap_dispose (GObject *object)
{
  AdjMinimap *self = ADJ_MINIMAP (object);

  adj_minimap_set_view (self, NULL);
  g_clear_pointer (&self->picture, gsk_render_node_unref);
  g_clear_pointer (&self->scene, adj_scene_unref);

  G_OBJECT_CLASS (adj_minimap_parent_class)->dispose (object);
}

static void
adj_minimap_class_init (AdjMinimapClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_minimap_dispose;
  widget_class->snapshot = adj_minimap_snapshot;
  widget_class->measure = adj_minimap_measure;
  gtk_widget_class_set_css_name (widget_class, "minimap");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_minimap_init (AdjMinimap *self)
{
  GtkGesture *drag = gtk_gesture_drag_new ();

  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Overview"), -1);
}

static void
on_camera_changed (AdjMinimap *self)
{
  if (self->scene != adj_graph_view_get_scene (self->view))
    gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
adj_minimap_set_view (AdjMinimap *self, AdjGraphView *view)
{
  if (self->view == view)
    return;
  if (self->view != NULL)
    {
      g_signal_handlers_disconnect_by_data (self->view, self);
      g_object_remove_weak_pointer (G_OBJECT (self->view), (gpointer *) &self->view);
    }
  self->view = view;
  if (view != NULL)
    {
      g_object_add_weak_pointer (G_OBJECT (view), (gpointer *) &self->view);
      g_signal_connect_object (view, "camera-changed", G_CALLBACK (on_camera_changed), self,
                               G_CONNECT_SWAPPED);
    }
}
