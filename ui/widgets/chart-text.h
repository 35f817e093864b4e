/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What the texts of a chart are written with. */
typedef struct
{
  GtkWidget *widget; /* (unowned): no text leaves it at the sides */
  GtkSnapshot *snapshot;
  GdkRGBA color;
} AdjChartPen;

/* @align: 0: begins at @x; 1: ends there; between: in between.  @y is the middle of the line, in
 * pixels; @scale of the font. */
void adj_chart_write (
    const AdjChartPen *pen, const char *text, double x, double y, double align, double scale);

/* From @x on, cut where @room ends. */
void adj_chart_write_title (
    const AdjChartPen *pen, const char *text, double x, double y, double room, double scale);
/* The name of an axis that goes up, or @brief where there is no room for it. */
void adj_chart_write_axis (const AdjChartPen *pen,
                           const char *name,
                           const char *brief,
                           double x,
                           double middle,
                           double room,
                           double scale);

G_END_DECLS
