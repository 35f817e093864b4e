/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The pen for the texts of a chart. */
typedef struct
{
  GtkWidget *widget; /* (unowned): texts are kept within its width */
  GtkSnapshot *snapshot;
  GdkRGBA color;
} AdjChartPen;

/* @align: 0: begins at @x; 1: ends there; or between.  @y is the middle of the line, in pixels;
 * @scale of the font. */
void adj_chart_write (
    const AdjChartPen *pen, const char *text, double x, double y, double align, double scale);

/* Begins at @x, ellipsised after @room. */
void adj_chart_write_title (
    const AdjChartPen *pen, const char *text, double x, double y, double room, double scale);
/* The name of a vertical axis, or @brief where there is not enough room for it. */
void adj_chart_write_axis (const AdjChartPen *pen,
                           const char *name,
                           const char *brief,
                           double x,
                           double middle,
                           double room,
                           double scale);

G_END_DECLS
