/* SPDX-License-Identifier: MIT */
#include <glib/gi18n.h>
#include <math.h>

#include "canvas/adj-navigator.h"
#include "canvas/graph-view-private.h"
#include "model/adj-facts.h"

#define WHEEL_STEP 64.0f
#define WHEEL_ZOOM 1.15f
#define CHORD_USEC (2 * G_TIME_SPAN_SECOND)

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

static void
on_released (GtkGestureClick *gesture, int n_press, double x, double y, AdjGraphView *self)
{
  guint hit = box_at (self, x, y);
  AdjNodeId node = ADJ_NO_NODE;

  if (hit != ADJ_NO_BOX)
    {
      node = adj_scene_get_box (self->scene, hit)->node;
      if (!adj_node_id_is_valid (node) &&
          adj_scene_get_box (self->scene, hit)->kind == ADJ_BOX_BRIDGE)
        node = bridge_value (self, hit);
    }
  if (n_press == 2)
    adj_graph_view_activate_box (self, hit);
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
  adj_graph_view_glide (self, 0, 0);
  self->grabbed = self->camera;
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, AdjGraphView *self)
{
  if (hypot (dx, dy) < 5)
    return;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
  gtk_widget_set_cursor_from_name (GTK_WIDGET (self), "grabbing");
  self->camera = self->grabbed;
  adj_camera_pan (&self->camera, dx, dy);
  adj_graph_view_camera_changed (self);
}

static void
on_drag_end (GtkGestureDrag *drag, double dx, double dy, AdjGraphView *self)
{
  gtk_widget_set_cursor (GTK_WIDGET (self), NULL);
}

static void
on_swipe (GtkGestureSwipe *swipe, double speed_x, double speed_y, AdjGraphView *self)
{
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

/* -- keys -- */

static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (self->scene == NULL)
    return FALSE;
  adj_graph_view_choose (
      self, adj_navigator_step (self->scene, self->selected, g_variant_get_int32 (args)));
  return TRUE;
}

/* The next user of the selected value, in the order of the maker's list. */
static gboolean
on_user (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  const AdjNode *node;
  gboolean back = g_variant_get_boolean (args);

  if (self->graph == NULL || !adj_node_id_is_valid (self->selected))
    return FALSE;
  node = adj_graph_get_node (self->graph, self->selected.index);
  if (back ? node->n_inputs == 0 : node->n_users == 0)
    return FALSE;
  adj_graph_view_choose (self, back ? node->inputs[0] : node->users[0]);
  return TRUE;
}

static gboolean
on_twin (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjNodeId twin;

  if (self->scene == NULL || !adj_node_id_is_valid (self->selected))
    return FALSE;
  twin = adj_scene_get_twin (self->scene, self->selected);
  if (adj_node_id_is_valid (twin))
    adj_graph_view_choose (self, twin);
  return TRUE;
}

static guint
selected_box (AdjGraphView *self)
{
  return self->scene != NULL && adj_node_id_is_valid (self->selected)
             ? adj_scene_find_node (self->scene, self->selected)
             : ADJ_NO_BOX;
}

static gboolean
on_fold (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  guint box = selected_box (self);

  if (box == ADJ_NO_BOX)
    return FALSE;
  if (adj_scene_get_box (self->scene, box)->kind != ADJ_BOX_GROUP)
    box = adj_scene_get_box (self->scene, box)->group;
  adj_graph_view_activate_box (self, box);
  return TRUE;
}

static gboolean
on_enter (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  adj_graph_view_activate_box (self, selected_box (self));
  return TRUE;
}

static gboolean
on_page (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjCamera camera = self->camera;

  adj_camera_pan (&camera, 0, g_variant_get_int32 (args) * 0.8f * gtk_widget_get_height (widget));
  adj_graph_view_move_to (self, &camera);
  return TRUE;
}

/* Ctrl with an arrow scrolls, as the wheel does. */
static gboolean
on_scroll_key (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  AdjCamera camera = self->camera;
  float step = 2 * WHEEL_STEP;

  switch ((AdjDirection) g_variant_get_int32 (args))
    {
    case ADJ_DIRECTION_LEFT:
      adj_camera_pan (&camera, step, 0);
      break;
    case ADJ_DIRECTION_RIGHT:
      adj_camera_pan (&camera, -step, 0);
      break;
    case ADJ_DIRECTION_UP:
      adj_camera_pan (&camera, 0, step);
      break;
    case ADJ_DIRECTION_DOWN:
      adj_camera_pan (&camera, 0, -step);
      break;
    }
  adj_graph_view_move_to (self, &camera);
  return TRUE;
}

static gboolean
on_home (GtkWidget *widget, GVariant *args, gpointer data)
{
  adj_graph_view_fit (ADJ_GRAPH_VIEW (widget));
  return TRUE;
}

static gboolean
on_clear (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);

  if (!adj_node_id_is_valid (self->selected) && self->role == ADJ_ROLE_NONE)
    return FALSE;
  self->role = ADJ_ROLE_NONE;
  adj_graph_view_set_selected (self, ADJ_NO_NODE);
  return TRUE;
}

static gboolean
on_chord (GtkWidget *widget, GVariant *args, gpointer data)
{
  ADJ_GRAPH_VIEW (widget)->chord = g_get_monotonic_time ();
  return TRUE;
}

static gboolean
on_tint (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjGraphView *self = ADJ_GRAPH_VIEW (widget);
  gboolean follows = g_get_monotonic_time () - self->chord < CHORD_USEC;

  self->chord = 0;
  if (follows)
    gtk_widget_activate_action (widget, "win.color-by", "s",
                                adj_coloring_name (g_variant_get_int32 (args)));
  return follows;
}

void
adj_graph_view_install_keys (GtkWidgetClass *klass)
{
  static const struct
  {
    guint key;
    AdjDirection direction;
  } arrows[] = {
    { GDK_KEY_Left, ADJ_DIRECTION_LEFT },   { GDK_KEY_KP_Left, ADJ_DIRECTION_LEFT },
    { GDK_KEY_Right, ADJ_DIRECTION_RIGHT }, { GDK_KEY_KP_Right, ADJ_DIRECTION_RIGHT },
    { GDK_KEY_Up, ADJ_DIRECTION_UP },       { GDK_KEY_KP_Up, ADJ_DIRECTION_UP },
    { GDK_KEY_Down, ADJ_DIRECTION_DOWN },   { GDK_KEY_KP_Down, ADJ_DIRECTION_DOWN },
  };

  static const struct
  {
    guint key;
    AdjColoring coloring;
  } tints[] = {
    { GDK_KEY_r, ADJ_COLOR_BY_ROLE },
    { GDK_KEY_b, ADJ_COLOR_BY_BYTES },
    { GDK_KEY_t, ADJ_COLOR_BY_TIME },
    { GDK_KEY_e, ADJ_COLOR_BY_ERROR },
  };

  gtk_widget_class_add_binding (klass, GDK_KEY_c, 0, on_chord, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (tints); i++)
    gtk_widget_class_add_binding (klass, tints[i].key, 0, on_tint, "i", tints[i].coloring);
  gtk_widget_class_add_binding_action (klass, GDK_KEY_n, 0, "win.next-difference", NULL);
  gtk_widget_class_add_binding_action (klass, GDK_KEY_p, 0, "win.previous-difference", NULL);
  for (guint i = 0; i < G_N_ELEMENTS (arrows); i++)
    {
      gtk_widget_class_add_binding (klass, arrows[i].key, 0, on_arrow, "i", arrows[i].direction);
      gtk_widget_class_add_binding (klass, arrows[i].key, GDK_CONTROL_MASK, on_scroll_key, "i",
                                    arrows[i].direction);
    }
  gtk_widget_class_add_binding (klass, GDK_KEY_Tab, 0, on_user, "b", FALSE);
  gtk_widget_class_add_binding (klass, GDK_KEY_ISO_Left_Tab, GDK_SHIFT_MASK, on_user, "b", TRUE);
  gtk_widget_class_add_binding (klass, GDK_KEY_Page_Up, 0, on_page, "i", 1);
  gtk_widget_class_add_binding (klass, GDK_KEY_Page_Down, 0, on_page, "i", -1);
  gtk_widget_class_add_binding (klass, GDK_KEY_m, 0, on_twin, NULL);
  gtk_widget_class_add_binding_action (klass, GDK_KEY_f, 0, "win.flow", NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_space, 0, on_fold, NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_Return, 0, on_enter, NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_KP_Enter, 0, on_enter, NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_Home, 0, on_home, NULL);
  gtk_widget_class_add_binding (klass, GDK_KEY_Escape, 0, on_clear, NULL);
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
