/* SPDX-License-Identifier: MIT */
#include "inspect/adj-histogram.h"

#include <glib/gi18n.h>

#include "model/adj-facts.h"

struct _AdjHistogram
{
  GtkWidget parent_instance;

  AdjTensorStats stats;
};

G_DEFINE_FINAL_TYPE (AdjHistogram, adj_histogram, GTK_TYPE_WIDGET)

static void
adj_histogram_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  AdjHistogram *self = ADJ_HISTOGRAM (widget);
  float width = gtk_widget_get_width (widget) / (float) ADJ_STATS_BINS;
  float height = gtk_widget_get_height (widget);
  GdkRGBA color, base;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  base = color;
  base.alpha *= 0.3f;
  for (guint i = 0; i < ADJ_STATS_BINS; i++)
    {
      float bar = self->stats.bins[i] * (height - 2) / MAX (self->stats.largest_bin, 1);

      if (self->stats.bins[i] > 0)
        bar = MAX (bar, 1);
      gtk_snapshot_append_color (
          snapshot, &color,
          &GRAPHENE_RECT_INIT (i * width, height - 1 - bar, MAX (width - 1, 1), bar));
    }
  gtk_snapshot_append_color (snapshot, &base,
                             &GRAPHENE_RECT_INIT (0, height - 1, gtk_widget_get_width (widget), 1));
}

static void
adj_histogram_class_init (AdjHistogramClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  widget_class->snapshot = adj_histogram_snapshot;
  gtk_widget_class_set_css_name (widget_class, "histogram");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
adj_histogram_init (AdjHistogram *self)
{
}

GtkWidget *
adj_histogram_new (const AdjTensorStats *stats)
{
  AdjHistogram *self = g_object_new (ADJ_TYPE_HISTOGRAM, NULL);
  g_autofree char *min = adj_facts_number (stats->min);
  g_autofree char *max = adj_facts_number (stats->max);
  g_autofree char *text = g_strdup_printf (_ ("Distribution from %s to %s"), min, max);

  self->stats = *stats;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), text);
  return GTK_WIDGET (self);
}
