/* SPDX-License-Identifier: MIT */
/* The chart of a captured backward: choosing in it by pointer and keys. */

#include "panel/adj-backward-chart.h"

#include <glib/gi18n.h>

#include "panel/backward-chart-private.h"
#include "report/adj-properties.h"

G_DEFINE_FINAL_TYPE (AdjBackwardChart, adj_backward_chart, GTK_TYPE_WIDGET)

/* -- places -- */

float
backward_chart_step_width (AdjBackwardChart *self)
{
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self)) - 2 * BACKWARD_MARGIN;

  return MAX (width, 1) / (float) MAX (self->backward->steps->len, 1);
}

static guint
step_at (AdjBackwardChart *self, double x)
{
  gint at = (gint) ((x - (double) BACKWARD_MARGIN) / (double) backward_chart_step_width (self));

  return (guint) CLAMP (at, 0, (gint) self->backward->steps->len - 1);
}

static guint
step_in_top_lane (AdjBackwardChart *self, double x)
{
  guint rank = step_at (self, x);

  for (guint i = 0; i < self->backward->steps->len; i++)
    if (self->ranks[i] == rank)
      return i;
  return G_MAXUINT;
}

/* -- choosing -- */

static char *
describe_step (AdjBackwardChart *self)
{
  const AdjBackwardStep *step = backward_chart_step (self, self->step);
  g_autofree char *bytes = adj_properties_bytes ((gint64) self->backward->held[step->node.index]);

  if (!step->moved)
    return g_strdup_printf (_ ("%s runs as step %u, in sequence; %s held"), step->title,
                            self->step + 1, bytes);
  if (self->backward->is_before)
    return g_strdup_printf (_ ("%s was captured as step %u, runs as %u"), step->title,
                            self->step + 1, self->ranks[self->step] + 1);
  return g_strdup_printf (_ ("%s runs as step %u, was %u; %s held"), step->title, self->step + 1,
                          self->ranks[self->step] + 1, bytes);
}

static char *
describe_life (AdjBackwardChart *self)
{
  const AdjBackwardLife *life = backward_chart_life (self, self->life);
  g_autofree char *bytes = adj_properties_bytes (life->bytes);
  g_autofree char *title = adj_captured_name_node (self->backward->captured, life->node.index);

  if (life->last.index == life->node.index)
    return g_strdup_printf (_ ("%s, %s, read by no node"), title, bytes);
  if (!life->stolen)
    return g_strdup_printf (_ ("%s, %s, read last by %s; the program holds it too"), title, bytes,
                            backward_chart_node (self, life->last)->name);
  return g_strdup_printf (_ ("%s, %s, stolen: freed after %s"), title, bytes,
                          backward_chart_node (self, life->last)->name);
}

static char *
describe_stop (AdjBackwardChart *self)
{
  const char *title = backward_chart_step (self, self->stop)->title;

  return adj_stepping_has_breakpoint (self->stepping, self->stop)
             ? g_strdup_printf (_ ("Click: no breakpoint at %s any more"), title)
             : g_strdup_printf (_ ("Click: a breakpoint at %s"), title);
}

char *
adj_backward_chart_describe (AdjBackwardChart *self)
{
  const AdjBackward *backward = self->backward;

  if (backward == NULL || backward->steps->len == 0)
    return g_strdup ("");
  if (self->stop != G_MAXUINT)
    return describe_stop (self);
  if (self->life != G_MAXUINT)
    return describe_life (self);
  if (self->step != G_MAXUINT)
    return describe_step (self);
  if (backward->n_moved == 0)
    return g_strdup_printf (_ ("All %u steps stand in the same order"), backward->steps->len);
  return g_strdup_printf (_ ("%u of %u steps stand elsewhere"), backward->n_moved,
                          backward->steps->len);
}

static void
show (AdjBackwardChart *self)
{
  g_autofree char *text = adj_backward_chart_describe (self);

  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Orders and Live Ranges"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text, -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
choose (AdjBackwardChart *self, guint step, guint life)
{
  const gboolean same = step == self->step && life == self->life && self->stop == G_MAXUINT;

  self->step = step;
  self->life = life;
  self->stop = G_MAXUINT;
  if (!same)
    show (self);
}

/* Whether @y is in the row of breakpoint dots. */
static gboolean
is_gutter (AdjBackwardChart *self, double y)
{
  return self->stepping != NULL && y >= (double) (BACKWARD_LOW_LANE - BACKWARD_DOT - 3) &&
         y < (double) BACKWARD_LOW_LANE;
}

static void
on_motion (AdjBackwardChart *self, double x, double y)
{
  guint bar;

  if (backward_chart_is_empty (self))
    return;
  bar = y >= (double) BACKWARD_BARS_TOP
            ? (guint) ((y - (double) BACKWARD_BARS_TOP) / (double) BACKWARD_BAR_STEP)
            : G_MAXUINT;
  if (bar < self->backward->lives->len)
    choose (self, self->step, bar);
  else if (y < (double) (BACKWARD_TOP_LANE + BACKWARD_TICK + 4) && y > (double) BACKWARD_SAYS)
    choose (self, step_in_top_lane (self, x), G_MAXUINT);
  else
    choose (self, step_at (self, x), G_MAXUINT);
  if (is_gutter (self, y))
    {
      self->stop = self->step;
      show (self);
    }
}

static void
on_leave (AdjBackwardChart *self)
{
  choose (self, G_MAXUINT, G_MAXUINT);
}

static void
go_to (AdjBackwardChart *self)
{
  AdjNodeId node = ADJ_NO_NODE;

  if (backward_chart_is_empty (self))
    return;
  if (self->life != G_MAXUINT)
    node = backward_chart_life (self, self->life)->node;
  else if (self->step != G_MAXUINT)
    node = backward_chart_step (self, self->step)->node;
  if (adj_node_id_is_valid (node))
    gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", node.index);
}

static void
on_released (AdjBackwardChart *self, int n_press, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  on_motion (self, x, y);
  if (self->backward != NULL && self->stop != G_MAXUINT)
    adj_stepping_toggle_breakpoint (self->stepping, self->stop);
  else
    go_to (self);
}

static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  gint by = g_variant_get_int32 (args), last;

  if (backward_chart_is_empty (self))
    return FALSE;
  last = (gint) self->backward->steps->len - 1;
  choose (self,
          self->step != G_MAXUINT ? (guint) CLAMP ((gint) self->step + by, 0, last)
          : by > 0                ? 0
                                  : (guint) last,
          G_MAXUINT);
  return TRUE;
}

/* Chooses the first or the last step that moved. */
static gboolean
on_end (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  gint by = g_variant_get_int32 (args), at, n;

  if (backward_chart_is_empty (self))
    return FALSE;
  n = (gint) self->backward->steps->len;
  for (at = by > 0 ? 0 : n - 1; at >= 0 && at < n && !backward_chart_step (self, (guint) at)->moved;
       at += by)
    ;
  if (at < 0 || at >= n)
    at = by > 0 ? 0 : n - 1;
  choose (self, (guint) at, G_MAXUINT);
  return TRUE;
}

static gboolean
on_enter (GtkWidget *widget, GVariant *args, gpointer data)
{
  go_to (ADJ_BACKWARD_CHART (widget));
  return TRUE;
}

static void
adj_backward_chart_measure (GtkWidget *widget,
                            GtkOrientation orientation,
                            int for_size,
                            int *minimum,
                            int *natural,
                            int *minimum_baseline,
                            int *natural_baseline)
{
  AdjBackwardChart *self = ADJ_BACKWARD_CHART (widget);
  guint n = self->backward != NULL ? self->backward->lives->len : 0;

  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL
                 ? 300
                 : (int) (BACKWARD_BARS_TOP + BACKWARD_BAR_STEP * (float) n + 6);
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 600 : *minimum;
}

static void
adj_backward_chart_finalize (GObject *object)
{
  g_free (ADJ_BACKWARD_CHART (object)->ranks);

  G_OBJECT_CLASS (adj_backward_chart_parent_class)->finalize (object);
}

static void
adj_backward_chart_class_init (AdjBackwardChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = adj_backward_chart_finalize;
  widget_class->snapshot = backward_chart_snapshot;
  widget_class->measure = adj_backward_chart_measure;

  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, 0, on_arrow, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, 0, on_arrow, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Home, 0, on_end, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_End, 0, on_end, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, on_enter, NULL);
  gtk_widget_class_set_css_name (widget_class, "backwardchart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_backward_chart_init (AdjBackwardChart *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->step = self->life = self->stop = G_MAXUINT;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect_swapped (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  show (self);
}

void
adj_backward_chart_set_backward (AdjBackwardChart *self, const AdjBackward *backward)
{
  g_return_if_fail (ADJ_IS_BACKWARD_CHART (self));

  self->backward = backward;
  self->step = self->life = self->stop = G_MAXUINT;
  g_clear_pointer (&self->ranks, g_free);
  if (backward != NULL)
    {
      g_autofree guint *order = adj_backward_list_before (backward);

      self->ranks = g_new0 (guint, backward->steps->len + 1);
      for (guint i = 0; i < backward->steps->len; i++)
        self->ranks[order[i]] = i;
    }
  show (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
adj_backward_chart_set_stepping (AdjBackwardChart *self, AdjStepping *stepping)
{
  g_return_if_fail (ADJ_IS_BACKWARD_CHART (self));

  self->stepping = stepping;
  if (stepping == NULL)
    self->stop = G_MAXUINT;
  show (self);
}

void
adj_backward_chart_choose_node (AdjBackwardChart *self, AdjNodeId node)
{
  g_return_if_fail (ADJ_IS_BACKWARD_CHART (self));

  for (guint i = 0; !backward_chart_is_empty (self) && i < self->backward->steps->len; i++)
    if (backward_chart_step (self, i)->node.index == node.index)
      choose (self, i, G_MAXUINT);
}
