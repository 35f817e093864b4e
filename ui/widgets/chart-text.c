/* SPDX-License-Identifier: MIT */
/* The texts of charts: numbers of axes and what is said of a point. */

#include "widgets/chart-text.h"

#include <math.h>

void
adj_chart_write (
    const AdjChartPen *pen, const char *text, double x, double y, double align, double scale)
{
  g_autoptr (PangoLayout) layout = gtk_widget_create_pango_layout (pen->widget, text);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();
  int room = gtk_widget_get_width (pen->widget), width, height;

  pango_attr_list_insert (attributes, pango_attr_scale_new (scale));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_set_width (layout, room * PANGO_SCALE);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  pango_layout_get_pixel_size (layout, &width, &height);
  x = CLAMP (x - width * align, 0, MAX (room - width, 0));
  gtk_snapshot_save (pen->snapshot);
  gtk_snapshot_translate (
      pen->snapshot, &GRAPHENE_POINT_INIT ((float) floor (x), (float) floor (y - height / 2.0)));
  gtk_snapshot_append_layout (pen->snapshot, layout, &pen->color);
  gtk_snapshot_restore (pen->snapshot);
}
