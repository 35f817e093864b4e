/* SPDX-License-Identifier: MIT */
/* Pointer input of the graph view: click, band selection, drag, zoom and hovering. */

#include <math.h>

#include "canvas/graph-view-private.h"
#include "canvas/line-ends.h"

#define WHEEL_STEP 64.0f
#define WHEEL_ZOOM 1.15f
#define LINE_REACH 4.0f /* pixels around a line that count as it */

static guint
box_at (AdjGraphView *self, float x, float y)
{
  AdjPoint at = adj_camera_to_scene (&self->camera, x, y);

  return self->scene != NULL ? adj_scene_hit (self->scene, at.x, at.y) : ADJ_NO_BOX;
}

/* -- pointer -- */

static void
on_pressed (GtkGestureClick *gesture, int n_press, double x, double y, AdjGraphView *self)
{
  adj_graph_view_hover (self, ADJ_NO_BOX, ADJ_NO_BOX);
  gtk_widget_grab_focus (GTK_WIDGET (self));
}

GArray *
adj_graph_view_line_at (AdjGraphView *self, guint hit, float x, float y)
{
  AdjPoint at = adj_camera_to_scene (&self->camera, x, y);
  const AdjSceneBox *box = hit != ADJ_NO_BOX ? adj_scene_get_box (self->scene, hit) : NULL;

  if (box != NULL && box->kind == ADJ_BOX_BRIDGE)
    return adj_line_of_bridge (self->scene, hit);
  /* Lines can be hit inside open frames, which they run through. */
  if (self->scene == NULL || adj_lod_from_zoom (self->camera.zoom) == ADJ_LOD_TEXTURE ||
      (box != NULL && (box->kind != ADJ_BOX_GROUP || box->fold == ADJ_FOLD_CLOSED)))
    return g_array_new (FALSE, FALSE, sizeof (guint32));
  return adj_line_at (self->scene, at, LINE_REACH / self->camera.zoom);
}

gboolean
adj_graph_view_is_link (AdjGraphView *self, guint hit)
{
  return hit != ADJ_NO_BOX && adj_scene_get_box (self->scene, hit)->kind == ADJ_BOX_CHIP &&
         adj_scene_get_box (self->scene, hit)->role == ADJ_ROLE_SAVED;
}

/* Whether a chip names what stands elsewhere: it is gone to. */
static gboolean
is_name (AdjGraphView *self, guint hit)
{
  const AdjSceneBox *box = hit != ADJ_NO_BOX ? adj_scene_get_box (self->scene, hit) : NULL;

  return box != NULL && box->kind == ADJ_BOX_CHIP &&
         adj_scene_get_box (self->scene, adj_scene_find_node (self->scene, box->node))->kind !=
             ADJ_BOX_CHIP;
}

/* Both ends of a line. */
static void
choose_ends (AdjGraphView *self, const GArray *line, gboolean add)
{
  g_autoptr (GArray) ends = adj_line_get_ends (self->scene, self->graph, line, NULL);

  if (!add)
    adj_graph_view_choose_nodes (self, ends);
  for (guint i = 0; add && i < ends->len; i++)
    adj_graph_view_add (self, (AdjNodeId){ g_array_index (ends, guint32, i) }, FALSE);
}

static void
on_released (GtkGestureClick *gesture, int n_press, double x, double y, AdjGraphView *self)
{
  guint hit = box_at (self, x, y);
  g_autoptr (GArray) line = adj_graph_view_line_at (self, hit, x, y);
  AdjNodeId node = hit != ADJ_NO_BOX ? adj_scene_get_box (self->scene, hit)->node : ADJ_NO_NODE;
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  gboolean add = (state & (GDK_SHIFT_MASK | GDK_CONTROL_MASK)) != 0;
  gboolean leads = line->len == 0 && !add && is_name (self, hit);

  if (n_press == 1 || add)
    self->n_modified = add ? n_press : 0;
  self->is_pointing = TRUE;
  if (line->len > 0)
    choose_ends (self, line, add);
  else if (add)
    adj_graph_view_add (self, node, (state & GDK_CONTROL_MASK) != 0);
  else if ((n_press - self->n_modified) % 2 == 0 || adj_graph_view_is_link (self, hit))
    adj_graph_view_activate_box (self, hit);
  else if (self->chosen != NULL)
    adj_graph_view_choose_only (self, node);
  else
    adj_graph_view_set_selected (self, node);
  self->is_pointing = FALSE;
  if (leads)
    adj_graph_view_reveal (self, node);
}

gboolean
adj_graph_view_is_inside (AdjGraphView *self, guint hit, float y)
{
  const AdjSceneBox *box = adj_scene_get_box (self->scene, hit);

  return box->kind == ADJ_BOX_GROUP && box->fold != ADJ_FOLD_CLOSED &&
         adj_camera_to_scene (&self->camera, 0, y).y > box->rect.y + ADJ_GROUP_TITLE_HEIGHT;
}

static void
on_motion (GtkEventControllerMotion *motion, double x, double y, AdjGraphView *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (motion));
  guint hit = box_at (self, x, y);
  g_autoptr (GArray) line = adj_graph_view_line_at (self, hit, x, y);

  self->pointer = (AdjPoint){ x, y };
  if (state & (GDK_BUTTON1_MASK | GDK_BUTTON2_MASK | GDK_BUTTON3_MASK))
    return;
  if (hit != ADJ_NO_BOX && adj_graph_view_is_inside (self, hit, y))
    hit = ADJ_NO_BOX;
  adj_graph_view_hover (self, hit, line->len > 0 ? g_array_index (line, guint32, 0) : ADJ_NO_BOX);
}

static void
on_leave (GtkEventControllerMotion *motion, AdjGraphView *self)
{
  adj_graph_view_hover (self, ADJ_NO_BOX, ADJ_NO_BOX);
}

/* -- dragging -- */

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, AdjGraphView *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (drag));

  adj_graph_view_glide (self, 0, 0);
  self->grabbed = self->camera;
  self->banding = FALSE;
  self->band = (AdjRect){ x, y, 0, 0 };
  self->wants_band = (state & GDK_SHIFT_MASK) != 0;
}

static void
draw_band (AdjGraphView *self, GtkGestureDrag *drag, double dx, double dy)
{
  double x, y;

  gtk_gesture_drag_get_start_point (drag, &x, &y);
  self->banding = TRUE;
  self->band = (AdjRect){ x + MIN (dx, 0), y + MIN (dy, 0), fabs (dx), fabs (dy) };
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, AdjGraphView *self)
{
  if (hypot (dx, dy) < 5)
    return;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
  if (self->wants_band)
    {
      draw_band (self, drag, dx, dy);
      return;
    }
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
  self->camera = self->grabbed;
  adj_camera_pan (&self->camera, dx, dy);
  adj_graph_view_camera_changed (self);
}

static void
on_drag_end (GtkGestureDrag *drag, double dx, double dy, AdjGraphView *self)
{
  AdjPoint from, to;
  AdjRect rect;

  gtk_widget_set_cursor (GTK_WIDGET (self), NULL);
  if (!self->banding)
    return;
  self->banding = FALSE;
  from = adj_camera_to_scene (&self->camera, self->band.x, self->band.y);
  to = adj_camera_to_scene (&self->camera, self->band.x + self->band.width,
                            self->band.y + self->band.height);
  rect = (AdjRect){ from.x, from.y, to.x - from.x, to.y - from.y };
  self->is_pointing = TRUE;
  adj_graph_view_choose_in (self, &rect);
  self->is_pointing = FALSE;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_swipe (GtkGestureSwipe *swipe, double speed_x, double speed_y, AdjGraphView *self)
{
  if (!self->wants_band)
    adj_graph_view_glide (self, speed_x, speed_y);
}

/* -- zoom -- */

static void
on_pinch_begin (GtkGesture *gesture, GdkEventSequence *sequence, AdjGraphView *self)
{
  adj_graph_view_glide (self, 0, 0);
  self->grabbed = self->camera;
}

static void
on_pinch (GtkGestureZoom *gesture, double scale, AdjGraphView *self)
{
  double x, y;

  if (!gtk_gesture_get_bounding_box_center (GTK_GESTURE (gesture), &x, &y))
    return;
  self->camera = self->grabbed;
  adj_camera_zoom_at (&self->camera, scale, x, y);
  adj_graph_view_camera_changed (self);
}

static gboolean
on_scroll (GtkEventControllerScroll *scroll, double dx, double dy, AdjGraphView *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (scroll));
  gboolean smooth = gtk_event_controller_scroll_get_unit (scroll) == GDK_SCROLL_UNIT_SURFACE;
  float step = smooth ? 1 : WHEEL_STEP;

  adj_graph_view_glide (self, 0, 0);
  if (state & GDK_CONTROL_MASK)
    adj_camera_zoom_at (&self->camera, powf (WHEEL_ZOOM, -dy * (smooth ? 0.02f : 1)),
                        self->pointer.x, self->pointer.y);
  else if (state & GDK_SHIFT_MASK)
    adj_camera_pan (&self->camera, -dy * step, -dx * step);
  else
    adj_camera_pan (&self->camera, -dx * step, -dy * step);
  adj_graph_view_camera_changed (self);
  return GDK_EVENT_STOP;
}

static void
on_decelerate (GtkEventControllerScroll *scroll, double speed_x, double speed_y, AdjGraphView *self)
{
  adj_graph_view_glide (self, -speed_x, -speed_y);
}

/* A swipe ends a drag; the gestures are grouped, as else the drag would take its events. */
static void
add_drag (AdjGraphView *self, guint button)
{
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkGesture *swipe = gtk_gesture_swipe_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), button);
  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (swipe), button);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (swipe, "swipe", G_CALLBACK (on_swipe), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (swipe));
  gtk_gesture_group (swipe, drag);
}

void
adj_graph_view_add_controllers (AdjGraphView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkGesture *pinch = gtk_gesture_zoom_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll = gtk_event_controller_scroll_new (
      GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES | GTK_EVENT_CONTROLLER_SCROLL_KINETIC);

  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (click, "released", G_CALLBACK (on_released), self);
  g_signal_connect (pinch, "begin", G_CALLBACK (on_pinch_begin), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (on_pinch), self);
  g_signal_connect (motion, "enter", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  g_signal_connect (scroll, "decelerate", G_CALLBACK (on_decelerate), self);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (pinch));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, scroll);
  add_drag (self, GDK_BUTTON_PRIMARY);
  add_drag (self, GDK_BUTTON_MIDDLE);
  adj_context_menu_watch (widget, adj_graph_view_ask_menu, NULL);
}
