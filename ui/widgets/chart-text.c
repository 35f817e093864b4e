/* SPDX-License-Identifier: MIT */
/* Texts of charts: numbers of axes and descriptions of points. */

#include "widgets/chart-text.h"

#include <math.h>

/* (transfer full) */
static PangoLayout *
make_layout (const AdjChartPen *pen, const char *text, int room, double scale)
{
  PangoLayout *layout = gtk_widget_create_pango_layout (pen->widget, text);
  g_autoptr (PangoAttrList) attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_scale_new (scale));
  pango_layout_set_attributes (layout, attributes);
  pango_layout_set_width (layout, room >= 0 ? room * PANGO_SCALE : -1);
  pango_layout_set_ellipsize (layout, PANGO_ELLIPSIZE_END);
  return layout;
}

static void
place (const AdjChartPen *pen, PangoLayout *layout, double x, double y, int height)
{
  gtk_snapshot_save (pen->snapshot);
  gtk_snapshot_translate (
      pen->snapshot, &GRAPHENE_POINT_INIT ((float) floor (x), (float) floor (y - height / 2.0)));
  gtk_snapshot_append_layout (pen->snapshot, layout, &pen->color);
  gtk_snapshot_restore (pen->snapshot);
}

void
adj_chart_write (
    const AdjChartPen *pen, const char *text, double x, double y, double align, double scale)
{
  int room = gtk_widget_get_width (pen->widget), width, height;
  g_autoptr (PangoLayout) layout = make_layout (pen, text, room, scale);

  pango_layout_get_pixel_size (layout, &width, &height);
  place (pen, layout, CLAMP (x - width * align, 0, MAX (room - width, 0)), y, height);
}

void
adj_chart_write_title (
    const AdjChartPen *pen, const char *text, double x, double y, double room, double scale)
{
  g_autoptr (PangoLayout) layout = make_layout (pen, text, (int) MAX (room, 0), scale);
  int height;

  pango_layout_get_pixel_size (layout, NULL, &height);
  place (pen, layout, x, y, height);
}

/* Written upwards, centred at @middle. */
void
adj_chart_write_axis (const AdjChartPen *pen,
                      const char *name,
                      const char *brief,
                      double x,
                      double middle,
                      double room,
                      double scale)
{
  g_autoptr (PangoLayout) layout = make_layout (pen, name, -1, scale);
  int width, height;

  pango_layout_get_pixel_size (layout, &width, &height);
  if (width > room)
    {
      pango_layout_set_text (layout, brief, -1);
      pango_layout_get_pixel_size (layout, &width, &height);
    }
  gtk_snapshot_save (pen->snapshot);
  gtk_snapshot_translate (pen->snapshot, &GRAPHENE_POINT_INIT (0, (float) middle));
  gtk_snapshot_rotate (pen->snapshot, -90);
  place (pen, layout, -width / 2.0, x, height);
  gtk_snapshot_restore (pen->snapshot);
}
