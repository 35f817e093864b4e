/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Adds an entry to the legend of a chart: @draw (@data) in a square of @size pixels, then @text.
 * Entries that do not fit beside the others go to the next line.  @legend: with `can-focus` off,
 * since there is nothing to do in it. */
void adj_legend_add (
    GtkFlowBox *legend, int size, GtkDrawingAreaDrawFunc draw, gpointer data, const char *text);
void adj_legend_clear (GtkFlowBox *legend);

G_END_DECLS
