/* SPDX-License-Identifier: MIT */
/* The chart of memory over the steps of a graph. */

#include "panel/adj-memory-chart.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#include "report/adj-properties.h"

#define TOP 20.0f    /* for the label of the peak */
#define BOTTOM 16.0f /* for the names of the phases */

struct _AdjMemoryChart
{
  GtkWidget parent_instance;

  const AdjTimeline *memory; /* (unowned) (nullable) */
  guint step;                /* chosen; G_MAXUINT: none */
  guint first, last;         /* the stretch */
};

G_DEFINE_FINAL_TYPE (AdjMemoryChart, adj_memory_chart, GTK_TYPE_WIDGET)

static guint chosen_signal;

/* Lightness tells neighbours apart where hue does not. */
GdkRGBA
adj_memory_chart_color (guint group)
{
  static const GdkRGBA light[ADJ_TIMELINE_GROUPS] = {
    { 0.22f, 0.42f, 0.66f, 1 }, { 0.90f, 0.66f, 0.20f, 1 }, { 0.13f, 0.52f, 0.42f, 1 },
    { 0.70f, 0.45f, 0.68f, 1 }, { 0.45f, 0.68f, 0.86f, 1 }, { 0.62f, 0.30f, 0.16f, 1 },
    { 0.62f, 0.78f, 0.50f, 1 }, { 0.60f, 0.59f, 0.62f, 1 },
  };

  return light[group % ADJ_TIMELINE_GROUPS];
}

/* -- places -- */

static float
x_of_step (AdjMemoryChart *self, guint step)
{
  return (float) gtk_widget_get_width (GTK_WIDGET (self)) * (float) step /
         (float) MAX (self->memory->n_steps, 1);
}

static guint
step_at (AdjMemoryChart *self, double x)
{
  double width = MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1);
  gint step = (gint) (x / width * self->memory->n_steps);

  return (guint) CLAMP (step, 0, (gint) self->memory->n_steps - 1);
}

/* -- choosing -- */

static void
describe (AdjMemoryChart *self)
{
  g_autofree char *text = NULL;

  if (self->memory != NULL && self->memory->n_steps > 0)
    {
      guint step = self->step != G_MAXUINT ? self->step : self->memory->peak;
      g_autofree char *bytes = adj_properties_bytes ((gint64) self->memory->live[step]);

      text = g_strdup_printf (self->step != G_MAXUINT ? _ ("%s at step %u of %u, %s")
                                                      : _ ("peak of %s at step %u of %u, %s"),
                              bytes, step + 1, self->memory->n_steps,
                              adj_graph_get_node (self->memory->graph, step)->name);
    }
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Memory over Time"), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                  text != NULL ? text : "", -1);
}

static void
choose (AdjMemoryChart *self, guint step)
{
  if (self->memory == NULL || step == self->step)
    return;
  self->step = step;
  describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, chosen_signal, 0, step);
}

static void
on_motion (AdjMemoryChart *self, double x, double y)
{
  if (self->memory != NULL && self->memory->n_steps > 0)
    choose (self, step_at (self, x));
}

static void
on_leave (AdjMemoryChart *self)
{
  choose (self, G_MAXUINT);
}

static void
on_released (AdjMemoryChart *self, int n_press, double x, double y)
{
  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (self->memory != NULL && self->memory->n_steps > 0)
    gtk_widget_activate_action (GTK_WIDGET (self), "win.select-node", "u", step_at (self, x));
}

static gboolean
on_arrow (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);
  gint by = g_variant_get_int32 (args), step;

  if (self->memory == NULL || self->memory->n_steps == 0)
    return FALSE;
  step = self->step != G_MAXUINT ? (gint) self->step + by : (gint) self->memory->peak;
  choose (self, (guint) CLAMP (step, 0, (gint) self->memory->n_steps - 1));
  return TRUE;
}

static gboolean
on_peak (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);

  if (self->memory == NULL || self->memory->n_steps == 0)
    return FALSE;
  choose (self, self->memory->peak);
  return TRUE;
}

static gboolean
on_enter (GtkWidget *widget, GVariant *args, gpointer data)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);

  if (self->memory == NULL || self->step == G_MAXUINT)
    return FALSE;
  gtk_widget_activate_action (widget, "win.select-node", "u", self->step);
  return TRUE;
}

/* -- painting -- */

/* One bar for every pixel or step, whichever are fewer; of several steps in a pixel the fullest. */
static void
paint_bars (AdjMemoryChart *self, GtkSnapshot *snapshot, float height, double scale)
{
  const AdjTimeline *m = self->memory;
  guint n = MIN ((guint) MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1), m->n_steps);
  float width = (float) gtk_widget_get_width (GTK_WIDGET (self)) / (float) n;

  for (guint i = 0; i < n; i++)
    {
      guint from = (guint) ((guint64) i * m->n_steps / n);
      guint to = (guint) ((guint64) (i + 1) * m->n_steps / n), best = from;
      float y = TOP + height;

      for (guint step = from; step < to; step++)
        if (m->live[step] > m->live[best])
          best = step;
      for (guint g = 0; g < m->n_groups; g++)
        {
          float bar = (float) ((double) m->stacks[g][best] * scale);
          GdkRGBA color = adj_memory_chart_color (g);

          if (bar < 0.2f)
            continue;
          y -= bar;
          gtk_snapshot_append_color (snapshot, &color,
                                     &GRAPHENE_RECT_INIT (i * width, y, width + 0.3f, bar));
        }
    }
}

static void
paint_text (AdjMemoryChart *self, GtkSnapshot *snapshot, const char *text, float x, float y)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  GdkRGBA color;
  int width;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)), &color);
  pango_layout_get_pixel_size (layout, &width, NULL);
  x = CLAMP (x, 2, MAX (gtk_widget_get_width (GTK_WIDGET (self)) - width - 2, 2));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (x, y));
  gtk_snapshot_append_layout (snapshot, layout, &color);
  gtk_snapshot_restore (snapshot);
}

static void
paint_line (GtkSnapshot *snapshot, const GdkRGBA *color, float x, float height)
{
  gtk_snapshot_append_color (snapshot, color,
                             &GRAPHENE_RECT_INIT (x - 0.75f, TOP - 4, 1.5f, height + 4));
}

static void
paint_marks (AdjMemoryChart *self, GtkSnapshot *snapshot, float height)
{
  const AdjTimeline *m = self->memory;
  guint step = self->step != G_MAXUINT ? self->step : m->peak;
  g_autofree char *bytes = adj_properties_bytes ((gint64) m->live[step]);
  g_autofree char *text =
      g_strdup_printf (self->step == G_MAXUINT || step == m->peak ? _ ("peak %s with inputs, at %s")
                                                                  : _ ("%s with inputs, at %s"),
                       bytes, adj_graph_get_node (m->graph, step)->name);
  float bottom = TOP + height;
  GdkRGBA color, pale;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)), &color);
  pale = color;
  pale.alpha *= 0.45f;
  if (m->turn < m->n_steps)
    {
      paint_line (snapshot, &pale, x_of_step (self, m->turn), height);
      paint_text (self, snapshot, _ ("forward"), 2, bottom);
      paint_text (self, snapshot, _ ("backward"), x_of_step (self, m->turn) + 4, bottom);
    }
  if (self->last > self->first)
    {
      float x = x_of_step (self, self->first);

      gtk_snapshot_append_color (
          snapshot, &color,
          &GRAPHENE_RECT_INIT (x, bottom - 3, x_of_step (self, self->last + 1) - x, 3));
    }
  paint_line (snapshot, &color, x_of_step (self, step), height);
  paint_text (self, snapshot, text, x_of_step (self, step) + 5, 0);
}

static void
adj_memory_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);
  float height = (float) gtk_widget_get_height (widget) - TOP - BOTTOM;

  if (self->memory == NULL || self->memory->n_steps == 0 || height < 4)
    return;
  paint_bars (self, snapshot, height,
              height / MAX ((double) self->memory->live[self->memory->peak], 1));
  paint_marks (self, snapshot, height);
}

static void
adj_memory_chart_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  *minimum = orientation == GTK_ORIENTATION_HORIZONTAL ? 160 : 80;
  *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? 500 : 160;
}

static void
adj_memory_chart_class_init (AdjMemoryChartClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = adj_memory_chart_snapshot;
  widget_class->measure = adj_memory_chart_measure;

  chosen_signal = g_signal_new ("step-chosen", G_TYPE_FROM_CLASS (klass), G_SIGNAL_RUN_LAST, 0,
                                NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Left, 0, on_arrow, "i", -1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Right, 0, on_arrow, "i", 1);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Home, 0, on_peak, NULL);
  gtk_widget_class_add_binding (widget_class, GDK_KEY_Return, 0, on_enter, NULL);
  gtk_widget_class_set_css_name (widget_class, "memorychart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_memory_chart_init (AdjMemoryChart *self)
{
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->step = G_MAXUINT;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  g_signal_connect_swapped (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect_swapped (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect_swapped (click, "released", G_CALLBACK (on_released), self);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
  describe (self);
}

void
adj_memory_chart_set_memory (AdjMemoryChart *self, const AdjTimeline *memory)
{
  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  self->memory = memory;
  self->step = G_MAXUINT;
  self->first = self->last = 0;
  describe (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
adj_memory_chart_set_stretch (AdjMemoryChart *self, guint first, guint last)
{
  g_return_if_fail (ADJ_IS_MEMORY_CHART (self));

  self->first = first;
  self->last = last;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
