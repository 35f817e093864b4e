/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Asks for a printer and prints the shown graph: as wide as the page where it would be wider, on as
 * many pages as it is long. */
void adj_print (AdjWindow *self, GVariant *unused);

/* That, of @scene, before anybody is asked.  (transfer full) */
GtkPrintOperation *adj_print_new (AdjScene *scene, const char *title);

/* How many pages a picture of that size takes.  @scale: (out): points per unit of the scene */
guint adj_print_count_pages (const AdjRect *bounds, double width, double height, double *scale);

G_END_DECLS
