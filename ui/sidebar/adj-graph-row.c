/* SPDX-License-Identifier: MIT */
/* A row of the sidebar for a graph. */

#include "sidebar/adj-graph-row.h"

#include <glib/gi18n.h>

#include "report/adj-properties.h"

struct _AdjGraphRow
{
  GtkListBoxRow parent_instance;

  AdjGraphItem *item;
  GtkLabel *number;
  GtkLabel *title;
  GtkLabel *subtitle;
  GtkLabel *count;
};

G_DEFINE_FINAL_TYPE (AdjGraphRow, adj_graph_row, GTK_TYPE_LIST_BOX_ROW)

static void
adj_graph_row_dispose (GObject *object)
{
  g_clear_object (&ADJ_GRAPH_ROW (object)->item);
  gtk_list_box_row_set_child (GTK_LIST_BOX_ROW (object), NULL);

  G_OBJECT_CLASS (adj_graph_row_parent_class)->dispose (object);
}

static void
adj_graph_row_class_init (AdjGraphRowClass *klass)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = adj_graph_row_dispose;
  gtk_widget_class_set_template_from_resource (widget_class,
                                               "/org/adjoint/Workbench/ui/graph-row.ui");
  gtk_widget_class_bind_template_child (widget_class, AdjGraphRow, number);
  gtk_widget_class_bind_template_child (widget_class, AdjGraphRow, title);
  gtk_widget_class_bind_template_child (widget_class, AdjGraphRow, subtitle);
  gtk_widget_class_bind_template_child (widget_class, AdjGraphRow, count);
}

static void
adj_graph_row_init (AdjGraphRow *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
}

GtkWidget *
adj_graph_row_new (AdjGraphItem *item)
{
  AdjGraphRow *self = g_object_new (ADJ_TYPE_GRAPH_ROW, NULL);
  g_autofree char *number = g_strdup_printf ("%u", adj_graph_item_get_index (item) + 1);
  g_autofree char *count = adj_properties_count (adj_graph_item_get_n_calls (item));
  const AdjBundleGraph *graph = adj_graph_item_get_graph (item);
  g_autofree char *n_calls = g_strdup_printf ("%u", adj_graph_item_get_n_calls (item));
  g_autofree char *label = g_strdup_printf ("%s, %s", adj_graph_item_get_title (item), count);

  self->item = g_object_ref (item);
  gtk_label_set_text (self->number, number);
  gtk_label_set_text (self->title, adj_graph_item_get_title (item));
  gtk_label_set_text (self->count, n_calls);
  gtk_label_set_text (self->subtitle, *adj_graph_item_get_subtitle (item) != '\0'
                                          ? adj_graph_item_get_subtitle (item)
                                          : graph->id);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self), graph->id);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
  return GTK_WIDGET (self);
}

AdjGraphItem *
adj_graph_row_get_item (AdjGraphRow *self)
{
  return self->item;
}
