/* SPDX-License-Identifier: MIT */
#include <glib/gi18n.h>
#include <math.h>

#include "canvas/graph-view-private.h"
#include "model/adj-facts.h"

#define WHEEL_STEP 64.0f
#define WHEEL_ZOOM 1.15f

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
  gtk_widget_grab_focus (GTK_WIDGET (self));
}

static AdjNodeId
bridge_value (AdjGraphView *self, guint bridge)
{
  for (guint i = 0; i < adj_scene_get_n_edges (self->scene); i++)
    {
      const AdjSceneEdge *edge = adj_scene_get_edge (self->scene, i);

      if ((edge->from == bridge || edge->to == bridge) && adj_node_id_is_valid (edge->value))
        return edge->value;
    }
  return ADJ_NO_NODE;
}

gboolean
adj_graph_view_is_link (AdjGraphView *self, guint hit)
{
  return hit != ADJ_NO_BOX && adj_scene_get_box (self->scene, hit)->kind == ADJ_BOX_CHIP &&
         adj_scene_get_box (self->scene, hit)->role == ADJ_ROLE_SAVED;
}

static void
on_released (GtkGestureClick *gesture, int n_press, double x, double y, AdjGraphView *self)
{
  guint hit = box_at (self, x, y);
  AdjNodeId node = ADJ_NO_NODE;
  GdkModifierType state;

  if (hit != ADJ_NO_BOX)
    {
      node = adj_scene_get_box (self->scene, hit)->node;
      if (!adj_node_id_is_valid (node) &&
          adj_scene_get_box (self->scene, hit)->kind == ADJ_BOX_BRIDGE)
        node = bridge_value (self, hit);
    }
  state = gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (gesture));
  if (n_press == 2 || (n_press == 1 && adj_graph_view_is_link (self, hit)))
    adj_graph_view_activate_box (self, hit);
  else if (n_press == 1 && (state & (GDK_SHIFT_MASK | GDK_CONTROL_MASK)))
    adj_graph_view_add (self, node, (state & GDK_CONTROL_MASK) != 0);
  else if (n_press == 1 && self->chosen != NULL)
    adj_graph_view_choose_only (self, node);
  else if (n_press == 1)
    adj_graph_view_set_selected (self, node);
}

static void
on_motion (GtkEventControllerMotion *motion, double x, double y, AdjGraphView *self)
{
  guint hit = box_at (self, x, y);

  self->pointer = (AdjPoint){ x, y };
  if (hit != ADJ_NO_BOX && adj_scene_get_box (self->scene, hit)->kind == ADJ_BOX_HEADER)
    hit = ADJ_NO_BOX;
  if (hit == self->hovered)
    return;
  self->hovered = hit;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_leave (GtkEventControllerMotion *motion, AdjGraphView *self)
{
  self->hovered = ADJ_NO_BOX;
  gtk_widget_queue_draw (GTK_WIDGET (self));
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
  adj_graph_view_choose_in (self, &rect);
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

/* -- hover card -- */

static gboolean
on_query_tooltip (
    AdjGraphView *self, int x, int y, gboolean keyboard, GtkTooltip *tooltip, gpointer data)
{
  guint hit = keyboard ? ADJ_NO_BOX : box_at (self, x, y);
  const AdjSceneBox *box;
  g_autofree char *text = NULL;

  if (hit == ADJ_NO_BOX)
    return FALSE;
  box = adj_scene_get_box (self->scene, hit);
  if (adj_node_id_is_valid (box->node))
    text = adj_facts_describe_node (self->graph, box->node, box->role);
  else if (box->kind == ADJ_BOX_GROUP)
    text = g_strdup_printf ("%s\n%s", box->title, box->subtitle);
  else
    return FALSE;
  gtk_tooltip_set_text (tooltip, text);
  return TRUE;
}

static void
add_drag (AdjGraphView *self, guint button)
{
  GtkGesture *drag = gtk_gesture_drag_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (drag), button);
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
}

void
adj_graph_view_add_controllers (AdjGraphView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkGesture *pinch = gtk_gesture_zoom_new ();
  GtkGesture *swipe = gtk_gesture_swipe_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll = gtk_event_controller_scroll_new (
      GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES | GTK_EVENT_CONTROLLER_SCROLL_KINETIC);

  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (click, "released", G_CALLBACK (on_released), self);
  g_signal_connect (pinch, "begin", G_CALLBACK (on_pinch_begin), self);
  g_signal_connect (pinch, "scale-changed", G_CALLBACK (on_pinch), self);
  g_signal_connect (swipe, "swipe", G_CALLBACK (on_swipe), self);
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
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (swipe));
  gtk_widget_set_has_tooltip (widget, TRUE);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
}
