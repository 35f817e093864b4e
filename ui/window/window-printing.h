/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Asks for a printer and prints the shown graph, scaled down to the page width if it is wider, on
 * as many pages as it is long. */
void adj_print (AdjWindow *self, GVariant *unused);

/* The print operation of @scene, before the dialog.  (transfer full) */
GtkPrintOperation *adj_print_new (AdjScene *scene, const char *title);

/* The number of pages for a picture of that size.  @scale: (out): points per unit of the scene */
guint adj_print_count_pages (const AdjRect *bounds, double width, double height, double *scale);

G_END_DECLS
