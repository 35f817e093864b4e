/* SPDX-License-Identifier: MIT */
/* Paints the chart of memory: axes, stacked bars, the line of another plan, marks. */

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#include "panel/memory-chart-private.h"
#include "report/adj-properties.h"
#include "widgets/adj-axis.h"
#include "widgets/chart-text.h"

typedef struct
{
  AdjMemoryChart *chart;
  AdjChartPen pen;
  AdjAxis bytes;
  float left, right, bottom, height; /* bounds of the plotted area */
} Field;

/* Neighbouring colours differ in lightness too, for people who cannot tell hues apart. */
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

static GdkRGBA
fade (GdkRGBA color, float alpha)
{
  color.alpha *= alpha;
  return color;
}

static void
paint_rect (const Field *field, const GdkRGBA *color, float x, float y, float width, float height)
{
  gtk_snapshot_append_color (field->pen.snapshot, color, &GRAPHENE_RECT_INIT (x, y, width, height));
}

static float
y_of (const Field *field, double bytes)
{
  return field->bottom - field->height * (float) adj_axis_get_share (&field->bytes, bytes);
}

/* -- axes -- */

static void
paint_bytes_axis (const Field *field)
{
  GdkRGBA pale = fade (field->pen.color, 0.14f);
  g_autofree char *name = g_strdup_printf (_ ("Held, with inputs (%s)"), field->bytes.unit);
  g_autofree char *brief = g_strdup_printf (_ ("Held (%s)"), field->bytes.unit);

  for (guint i = 0; i < adj_axis_get_n (&field->bytes); i++)
    {
      g_autofree char *text = adj_axis_print (&field->bytes, i);
      float y = floorf (y_of (field, adj_axis_get (&field->bytes, i)));

      paint_rect (field, &pale, field->left, y, field->right - field->left, 1);
      adj_chart_write (&field->pen, text, field->left - 6, y, 1, 0.8);
    }
  adj_chart_write_axis (&field->pen, name, brief, 8, field->bottom - field->height / 2,
                        field->height + MEMORY_TOP, 0.8);
}

/* Steps are counted from 1. */
static void
paint_steps_axis (const Field *field)
{
  AdjMemoryChart *self = field->chart;
  GdkRGBA strong = fade (field->pen.color, 0.5f);
  AdjAxis steps;

  adj_axis_init (&steps, self->from + 1, self->to, ADJ_AXIS_STEPS);
  for (guint i = 0; i < adj_axis_get_n (&steps); i++)
    {
      double step = adj_axis_get (&steps, i);
      g_autofree char *text = adj_axis_print (&steps, i);
      float x = memory_chart_x (self, step - 0.5);

      if (step < 1 || step > self->memory->n_steps || x < field->left || x > field->right)
        continue;
      paint_rect (field, &strong, x, field->bottom, 1, 4);
      adj_chart_write (&field->pen, text, x, field->bottom + 12, 0.5, 0.8);
    }
  paint_rect (field, &strong, field->left, field->bottom, field->right - field->left, 1);
  paint_rect (field, &strong, field->left, MEMORY_TOP, 1, field->height);
  adj_chart_write (&field->pen, _ ("Step of execution"), (field->left + field->right) / 2,
                   field->bottom + 30, 0.5, 0.8);
}

/* -- what is held -- */

/* The step with the most bytes among those of one pixel. */
static guint
find_fullest (const AdjTimeline *memory, double from, double to)
{
  guint first = (guint) CLAMP (from, 0, memory->n_steps - 1);
  guint end = (guint) CLAMP (ceil (to), first + 1, memory->n_steps), best = first;

  for (guint step = first; step < end; step++)
    if (memory->live[step] > memory->live[best])
      best = step;
  return best;
}

/* One bar for every pixel or step, whichever are fewer. */
static void
paint_bars (const Field *field)
{
  AdjMemoryChart *self = field->chart;
  const AdjTimeline *m = self->memory;
  double span = self->to - self->from, width = field->right - field->left;
  guint n = (guint) ceil (MIN (MAX (width, 1), span));

  for (guint i = 0; i < n; i++)
    {
      double from = n < span ? self->from + span * i / n : floor (self->from) + i;
      double to = n < span ? self->from + span * (i + 1) / n : from + 1;
      guint best = find_fullest (m, from, to);
      float x = MAX (memory_chart_x (self, from), field->left);
      float end = MIN (memory_chart_x (self, to), field->right), y = field->bottom;

      for (guint g = 0; g < m->n_groups && end > x; g++)
        {
          float bar = field->bottom - y_of (field, (double) m->stacks[g][best]);
          GdkRGBA color = adj_memory_chart_color (g);

          y -= bar;
          if (bar >= 0.2f)
            paint_rect (field, &color, x, y, end - x + 0.3f, bar);
        }
    }
}

/* A line with a pale edge, which is visible on every bar. */
static void
paint_other (const Field *field)
{
  AdjMemoryChart *self = field->chart;
  const AdjTimeline *other = self->other;
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  GdkRGBA edge = dark ? (GdkRGBA){ 0, 0, 0, 0.7f } : (GdkRGBA){ 1, 1, 1, 0.8f };
  cairo_t *cr;

  if (other == NULL || other->n_steps == 0)
    return;
  cr = gtk_snapshot_append_cairo (
      field->pen.snapshot,
      &GRAPHENE_RECT_INIT (field->left, 0, field->right - field->left, field->bottom + 1));
  for (guint i = 0; i < other->n_steps; i++)
    {
      double y = y_of (field, (double) other->live[i]);

      cairo_line_to (cr, memory_chart_x (self, memory_chart_place_other (self, i)), y);
      cairo_line_to (cr, memory_chart_x (self, memory_chart_place_other (self, i + 1)), y);
    }
  cairo_set_line_join (cr, CAIRO_LINE_JOIN_BEVEL);
  cairo_set_line_width (cr, 4);
  gdk_cairo_set_source_rgba (cr, &edge);
  cairo_stroke_preserve (cr);
  cairo_set_line_width (cr, 1.6);
  gdk_cairo_set_source_rgba (cr, &field->pen.color);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

/* -- marks -- */

static void
paint_turn (const Field *field)
{
  const AdjTimeline *m = field->chart->memory;
  float x = memory_chart_x (field->chart, m->turn);
  GdkRGBA pale = fade (field->pen.color, 0.45f);

  if (m->turn >= m->n_steps)
    return;
  if (x > field->left + 60)
    adj_chart_write (&field->pen, _ ("forward"), field->left + 4, field->bottom + 30, 0, 0.8);
  if (x < field->right - 70)
    adj_chart_write (&field->pen, _ ("backward"), field->right, field->bottom + 30, 1, 0.8);
  if (x >= field->left && x <= field->right)
    paint_rect (field, &pale, x - 0.75f, MEMORY_TOP - 4, 1.5f, field->height + 4);
}

static void
paint_stretch (const Field *field)
{
  AdjMemoryChart *self = field->chart;
  float x = MAX (memory_chart_x (self, self->first), field->left);
  float end = MIN (memory_chart_x (self, self->last + 1), field->right);

  if (self->last > self->first && end > x)
    paint_rect (field, &field->pen.color, x, field->bottom - 3, end - x, 3);
}

static void
paint_step (const Field *field, guint step, float alpha)
{
  AdjMemoryChart *self = field->chart;
  float x = memory_chart_x (self, step + 0.5);
  GdkRGBA color = fade (field->pen.color, alpha);

  if (x >= field->left && x <= field->right)
    paint_rect (field, &color, x - 0.75f, MEMORY_TOP - 4, 1.5f, field->height + 4);
}

static void
paint_subject (const Field *field)
{
  AdjMemoryChart *self = field->chart;
  guint step = memory_chart_get_subject (self);
  g_autofree char *text = memory_chart_describe_step (self, step);

  if (self->pinned != G_MAXUINT && self->pinned != step)
    paint_step (field, self->pinned, 0.5f);
  paint_step (field, step, 1);
  adj_chart_write (&field->pen, text, field->left, 8, 0, 0.85);
}

static double
get_most (AdjMemoryChart *self)
{
  guint64 most = self->memory->live[self->memory->peak];

  if (self->other != NULL && self->other->n_steps > 0)
    most = MAX (most, self->other->live[self->other->peak]);
  return (double) most;
}

void
memory_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjMemoryChart *self = ADJ_MEMORY_CHART (widget);
  Field field = { .chart = self, .pen = { .widget = widget, .snapshot = snapshot } };

  field.left = MEMORY_LEFT;
  field.right = (float) gtk_widget_get_width (widget) - MEMORY_RIGHT;
  field.bottom = (float) gtk_widget_get_height (widget) - MEMORY_BOTTOM;
  field.height = field.bottom - MEMORY_TOP;
  if (self->memory == NULL || self->memory->n_steps == 0 || field.height < 4 ||
      field.right < field.left + 4)
    return;
  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &field.pen.color);
  adj_axis_init (&field.bytes, 0, get_most (self), ADJ_AXIS_BYTES);
  paint_bytes_axis (&field);
  paint_bars (&field);
  paint_other (&field);
  paint_stretch (&field);
  paint_steps_axis (&field);
  paint_turn (&field);
  paint_subject (&field);
}
