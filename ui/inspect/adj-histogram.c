/* SPDX-License-Identifier: MIT */
/* A histogram of a tensor's elements, with that of another one. */

#include "inspect/adj-histogram.h"

#include <glib/gi18n.h>

#include "report/adj-properties.h"

struct _AdjHistogram
{
  GtkWidget parent_instance;

  AdjTensorStats stats;
  AdjTensorStats other;
  gboolean has_other;
};

G_DEFINE_FINAL_TYPE (AdjHistogram, adj_histogram, GTK_TYPE_WIDGET)

/* The fraction of elements, so that tensors of different sizes can be compared. */
static float
share_of (const AdjTensorStats *stats, guint count)
{
  return (float) count / (float) MAX (stats->n_sampled, 1);
}

static float
find_height (AdjHistogram *self, const AdjTensorStats *stats, guint bin)
{
  float room = gtk_widget_get_height (GTK_WIDGET (self)) - 2;
  float most = MAX (share_of (&self->stats, self->stats.largest_bin),
                    share_of (&self->other, self->other.largest_bin));
  float height = most > 0 ? share_of (stats, stats->bins[bin]) / most * room : 0;

  return stats->bins[bin] > 0 ? MAX (height, 1) : 0;
}

/* A step line along the tops of the other tensor's bars. */
static void
paint_other (AdjHistogram *self, GtkSnapshot *snapshot, float width, float bottom)
{
  GdkRGBA color;
  float before = 0;

  gtk_style_context_lookup_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                                  "other_side_color", &color);
  for (guint i = 0; i <= ADJ_STATS_BINS; i++)
    {
      float bar = i < ADJ_STATS_BINS ? find_height (self, &self->other, i) : 0;

      gtk_snapshot_append_color (snapshot, &color,
                                 &GRAPHENE_RECT_INIT (i * width - 1, bottom - MAX (bar, before), 2,
                                                      ABS (bar - before) + 1));
      if (i < ADJ_STATS_BINS)
        gtk_snapshot_append_color (snapshot, &color,
                                   &GRAPHENE_RECT_INIT (i * width, bottom - bar, width, 2));
      before = bar;
    }
}

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
      float bar = find_height (self, &self->stats, i);

      gtk_snapshot_append_color (
          snapshot, &color,
          &GRAPHENE_RECT_INIT (i * width, height - 1 - bar, MAX (width - 1, 1), bar));
    }
  gtk_snapshot_append_color (snapshot, &base,
                             &GRAPHENE_RECT_INIT (0, height - 1, gtk_widget_get_width (widget), 1));
  if (self->has_other)
    paint_other (self, snapshot, width, height - 1);
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
adj_histogram_new (const AdjTensorStats *stats, const AdjTensorStats *other)
{
  AdjHistogram *self = g_object_new (ADJ_TYPE_HISTOGRAM, NULL);
  g_autofree char *low = adj_properties_number (stats->low);
  g_autofree char *high = adj_properties_number (stats->high);
  g_autofree char *text = g_strdup_printf (other != NULL ? _ ("Distributions of both from %s to %s")
                                                         : _ ("Distribution from %s to %s"),
                                           low, high);

  self->stats = *stats;
  self->has_other = other != NULL;
  if (other != NULL)
    self->other = *other;
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), text);
  return GTK_WIDGET (self);
}
