/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* What a table of AdjOutputItem says of each. */
void adj_output_columns_append (GtkColumnView *view);

G_END_DECLS
