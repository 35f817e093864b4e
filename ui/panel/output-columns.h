/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Appends the columns of a table of AdjOutputItem. */
void adj_output_columns_append (GtkColumnView *view);
/* Shows the columns that have a text in any row. */
void adj_output_columns_update (GtkColumnView *view);

G_END_DECLS
