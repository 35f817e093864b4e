/* SPDX-License-Identifier: MIT */
/* The legend of a chart: signs with their names, on as many lines as they need. */

#include "widgets/legend.h"

void
adj_legend_add (
    GtkFlowBox *legend, int size, GtkDrawingAreaDrawFunc draw, gpointer data, const char *text)
{
  GtkWidget *entry = gtk_box_new (GTK_ORIENTATION_HORIZONTAL, 6);
  GtkWidget *sign = gtk_drawing_area_new ();
  GtkWidget *label = gtk_label_new (text);

  gtk_widget_set_size_request (sign, size, size);
  gtk_widget_set_valign (sign, GTK_ALIGN_CENTER);
  gtk_drawing_area_set_draw_func (GTK_DRAWING_AREA (sign), draw, data, NULL);
  gtk_widget_add_css_class (label, "caption");
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_END);
  gtk_box_append (GTK_BOX (entry), sign);
  gtk_box_append (GTK_BOX (entry), label);
  gtk_flow_box_insert (legend, entry, -1);
  gtk_accessible_update_property (GTK_ACCESSIBLE (gtk_widget_get_parent (entry)),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

void
adj_legend_clear (GtkFlowBox *legend)
{
  GtkWidget *child;

  while ((child = gtk_widget_get_first_child (GTK_WIDGET (legend))))
    gtk_flow_box_remove (legend, child);
}
