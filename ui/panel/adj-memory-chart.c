/* SPDX-License-Identifier: MIT */
/* The chart of memory over the steps of a graph: input by pointer and keys. */

#include "panel/adj-memory-chart.h"

#include <glib/gi18n.h>
#include <math.h>

#include "ir/adj-graph.h"
#include "panel/memory-chart-private.h"
#include "report/adj-properties.h"

#define LEAST_IN_VIEW 4.0 /* fewest visible steps */
#define ZOOM_STEP 1.5
#define DRAG_REACH 4.0 /* pixels; a shorter movement is a click */

G_DEFINE_FINAL_TYPE (AdjMemoryChart, adj_memory_chart, GTK_TYPE_WIDGET)

static guint chosen_signal, pinned_signal;

/* -- places -- */

static double
field_width (AdjMemoryChart *self)
{
  return MAX (gtk_widget_get_width (GTK_WIDGET (self)) - MEMORY_LEFT - MEMORY_RIGHT, 1);
}

float
memory_chart_x (AdjMemoryChart *self, double step)
{
  return (float) (MEMORY_LEFT + field_width (self) * (step - self->from) / (self->to - self->from));
}

double
memory_chart_place_other (AdjMemoryChart *self, guint step)
{
  double turn = self->memory->turn, n = self->memory->n_steps;
  double other_turn = self->other->turn, other_n = self->other->n_steps;

  if (step <= other_turn)
    return other_turn > 0 ? step / other_turn * turn : 0;
  return turn + (step - other_turn) / (other_n - other_turn) * (n - turn);
}

static gboolean
has_steps (AdjMemoryChart *self)
{
  return self->memory != NULL && self->memory->n_steps > 0;
}

/* The step at @x, also outside of the visible range, since a drag may leave the widget. */
static double
place_at (AdjMemoryChart *self, double x)
{
  return self->from + (x - MEMORY_LEFT) / field_width (self) * (self->to - self->from);
}

static guint
step_at (AdjMemoryChart *self, double x)
{
  return (guint) CLAMP (place_at (self, x), 0, self->memory->n_steps - 1);
}

graphene_point_t
adj_memory_chart_get_place (AdjMemoryChart *self, guint step)
{
  return GRAPHENE_POINT_INIT (memory_chart_x (self, step + 0.5),
                              (float) gtk_widget_get_height (GTK_WIDGET (self)) / 2);
}

/* -- choosing -- */

guint
memory_chart_get_subject (AdjMemoryChart *self)
{
  return self->step != G_MAXUINT     ? self->step
         : self->pinned != G_MAXUINT ? self->pinned
                                     : self->memory->peak;
}

/* "; 1.1 MiB by the line", where the line of the other plan has the same steps.  (transfer full) */
static char *
describe_line (AdjMemoryChart *self, guint step)
{
  g_autofree char *bytes = NULL;

  if (self->other == NULL || self->other->graph != self->memory->graph)
    return g_strdup ("");
  bytes = adj_properties_bytes ((gint64) self->other->live[step]);
  return g_strdup_printf (_ ("; %s by the line"), bytes);
}

char *
memory_chart_describe_step (AdjMemoryChart *self, guint step)
{
  g_autofree char *bytes = adj_properties_bytes ((gint64) self->memory->live[step]);
  g_autofree char *line = describe_line (self, step);

  return g_strdup_printf (step == self->memory->peak
                              ? _ ("peak of %s with inputs at step %u of %u, %s%s")
                              : _ ("%s with inputs at step %u of %u, %s%s"),
                          bytes, step + 1, self->memory->n_steps,
                          adj_graph_get_node (self->memory->graph, step)->name, line);
}

static void
changed (AdjMemoryChart *self)
{
  g_autofree char *step = NULL, *text = NULL;

  if (has_steps (self))
    step = memory_chart_describe_step (self, memory_chart_get_subject (self));
  if (self->other_note != NULL)
    text = g_strdup_printf ("%s; %s", step, self->other_note);
  else
    text = g_strdup (step);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Memory over Time"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text != NULL ? text : "", -1);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
choose (AdjMemoryChart *self, guint step)
{
  if (!has_steps (self) || step == self->step)
    return;
  self->step = step;
  changed (self);
  g_signal_emit (self, chosen_signal, 0, step != G_MAXUINT ? step : self->pinned);
}

void
adj_memory_chart_pin (AdjMemoryChart *self, guint step)
{
  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  if (!has_steps (self) || (step != G_MAXUINT && step >= self->memory->n_steps))
    return;
  self->pinned = step;
  changed (self);
  g_signal_emit (self, pinned_signal, 0, step);
}

static void
pin_and_select (AdjMemoryChart *self, guint step)
{
  adj_memory_chart_pin (self, step);
  gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", step);
}

/* -- what is in view -- */

static void
set_view (AdjMemoryChart *self, double from, double span)
{
  double n = MAX (self->memory->n_steps, 1);

  span = CLAMP (span, MIN (LEAST_IN_VIEW, n), n);
  self->from = CLAMP (from, 0, n - span);
  self->to = self->from + span;
  changed (self);
}

static void
zoom_around (AdjMemoryChart *self, double factor, double place)
{
  double span = self->to - self->from, share = (place - self->from) / span;

  span = CLAMP (span / factor, MIN (LEAST_IN_VIEW, self->memory->n_steps), self->memory->n_steps);
  set_view (self, place - share * span, span);
}

void
adj_memory_chart_zoom (AdjMemoryChart *self, double factor)
{
  double place;

  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  if (!has_steps (self))
    return;
  place = memory_chart_get_subject (self) + 0.5;
  if (factor == 0)
    set_view (self, 0, self->memory->n_steps);
  else
    zoom_around (self, factor,
                 place < self->from || place > self->to ? (self->from + self->to) / 2 : place);
}

void
adj_memory_chart_get_view (AdjMemoryChart *self, double *from, double *to)
{
  *from = self->from;
  *to = self->to;
}

/* Moves the visible range until @step is in it. */
static void
reveal (AdjMemoryChart *self, guint step)
{
  if (step < self->from)
    set_view (self, step, self->to - self->from);
  else if (step + 1 > self->to)
    set_view (self, step + 1 - (self->to - self->from), self->to - self->from);
}

/* -- pointer -- */

static void
on_motion (AdjMemoryChart *self, double x, double y)
{
  if (has_steps (self) && !self->is_held)
    choose (self, step_at (self, x));
}

static void
on_leave (AdjMemoryChart *self)
{
  choose (self, G_MAXUINT);
}

static void
on_drag_begin (AdjMemoryChart *self, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->grabbed_at = x;
  self->grabbed = self->from;
  self->is_held = TRUE;
  self->is_panned = FALSE;
}

static void
on_drag_update (AdjMemoryChart *self, double dx, double dy)
{
  double span = self->to - self->from;

  self->is_panned |= fabs (dx) > DRAG_REACH;
  if (has_steps (self) && self->is_panned)
    set_view (self, self->grabbed - dx / field_width (self) * span, span);
}

static void
on_drag_end (AdjMemoryChart *self, double dx, double dy)
{
  self->is_held = FALSE;
  if (has_steps (self) && !self->is_panned)
    pin_and_select (self, step_at (self, self->grabbed_at));
}

/* Vertical scrolling zooms at the pointer; horizontal, or with Shift, moves. */
static gboolean
on_scroll (GtkEventControllerScroll *scroll, double dx, double dy, AdjMemoryChart *self)
{
  GdkModifierType state =
      gtk_event_controller_get_current_event_state (GTK_EVENT_CONTROLLER (scroll));
  double span = self->to - self->from;

  if (!has_steps (self))
    return FALSE;
  if (dx != 0 || (state & GDK_SHIFT_MASK) != 0)
    set_view (self, self->from + (dx + dy) * span / 10, span);
  else
    zoom_around (self, pow (ZOOM_STEP, -dy), memory_chart_get_subject (self) + 0.5);
  return TRUE;
}

/* -- keys -- */

static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);
  guint step;

  if (!has_steps (self))
    return FALSE;
  step = memory_chart_get_subject (self);
  if (self->step != G_MAXUINT || self->pinned != G_MAXUINT)
    step = (guint) CLAMP ((gint64) step + g_variant_get_int32 (args), 0,
                          (gint64) self->memory->n_steps - 1);
  choose (self, step);
  reveal (self, step);
  return TRUE;
}

static gboolean
on_move (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);
  double span = self->to - self->from;

  if (!has_steps (self))
    return FALSE;
  set_view (self, self->from + g_variant_get_int32 (args) * span / 4, span);
  return TRUE;
}

static gboolean
on_peak (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);

  if (!has_steps (self))
    return FALSE;
  choose (self, self->memory->peak);
  reveal (self, self->memory->peak);
  return TRUE;
}

static gboolean
on_enter (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);

  if (!has_steps (self))
    return FALSE;
  pin_and_select (self, memory_chart_get_subject (self));
  return TRUE;
}

static gboolean
on_escape (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);

  if (self->pinned == G_MAXUINT && self->step == G_MAXUINT)
    return FALSE;
  self->step = G_MAXUINT;
  adj_memory_chart_pin (self, G_MAXUINT);
  return TRUE;
}

static gboolean
on_zoom (GtkWidget *widget, GVariant *args, gpointer data)
{
  adj_memory_chart_zoom (ADJ_MEMORY_CHART (widget), g_variant_get_double (args));
  return TRUE;
}

/* -- widget -- */

static void
adj_memory_chart_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 160 : 110;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 500 : 180;
}

static void
adj_memory_chart_finalize (GObject *object)
{
  g_free (ADJ_MEMORY_CHART (object)->other_note);

  G_OBJECT_CLASS (adj_memory_chart_parent_class)->finalize (object);
}

static void
bind_keys (GtkWidgetClass *widget_class)
{
  static const struct
  {
    guint key;
    double factor; /* 0: all */
  } zooms[] = {
    { GDK_KEY_plus, ZOOM_STEP },
    { GDK_KEY_equal, ZOOM_STEP },
    { GDK_KEY_KP_Add, ZOOM_STEP },
    { GDK_KEY_minus, 1 / ZOOM_STEP },
    { GDK_KEY_0, 0 },
    { GDK_KEY_KP_Subtract, 1 / ZOOM_STEP },
    { GDK_KEY_KP_0, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (zooms); i++)
    gtk_widget_class_add_binding (widget_class, zooms[i].key, 0, on_zoom, "d", zooms[i].factor);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, 0, on_arrow, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, 0, on_arrow, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, GDK_SHIFT_MASK, on_move, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, GDK_SHIFT_MASK, on_move, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Home, 0, on_peak, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, on_enter, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Escape, 0, on_escape, NULL);
}

static guint
add_signal (GObjectClass *klass, const char *name)
{
  return g_signal_new (name, G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                       G_TYPE_NONE, 1, G_TYPE_UINT);
}

static void
adj_memory_chart_class_init (AdjMemoryChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = adj_memory_chart_finalize;
  widget_class->snapshot = memory_chart_snapshot;
  widget_class->measure = adj_memory_chart_measure;

  chosen_signal = add_signal (G_OBJECT_CLASS (klass), "step-chosen");
  pinned_signal = add_signal (G_OBJECT_CLASS (klass), "step-pinned");
  bind_keys (widget_class);
  gtk_widget_class_set_css_name (widget_class, "memorychart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_memory_chart_init (AdjMemoryChart *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
  GtkGesture *drag = gtk_gesture_drag_new ();

  self->step = self->pinned = G_MAXUINT;
  self->to = 1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  g_signal_connect_swapped (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect_swapped (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect_swapped (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), scroll);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  changed (self);
}

void
adj_memory_chart_set_memory (AdjMemoryChart *self, const AdjTimeline *memory)
{
  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  self->memory = memory;
  self->other = NULL;
  g_clear_pointer (&self->other_note, g_free);
  self->step = self->pinned = G_MAXUINT;
  self->first = self->last = 0;
  self->from = 0;
  self->to = memory != NULL ? MAX (memory->n_steps, 1) : 1;
  changed (self);
}

void
adj_memory_chart_set_other (AdjMemoryChart *self, const AdjTimeline *other, const char *note)
{
  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  self->other = other;
  g_free (self->other_note);
  self->other_note = g_strdup (note);
  changed (self);
}

void
adj_memory_chart_set_stretch (AdjMemoryChart *self, guint first, guint last)
{
  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  self->first = first;
  self->last = last;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
