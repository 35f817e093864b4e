/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What a table of AdjOutputItem says of each. */
void adj_output_columns_append (GtkColumnView *view);
/* Leaves those that have something to say. */
void adj_output_columns_update (GtkColumnView *view);

G_END_DECLS
