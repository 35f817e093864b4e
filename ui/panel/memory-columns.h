/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* For tables of AdjHeldItem: value, bytes, why, line, shape, steps, module. */
void memory_columns_append (GtkColumnView *table);
/* Shows the columns that have a text in any row. */
void memory_columns_update (GtkColumnView *table);
/* The name of the node of @item.  (transfer full) */
char *memory_columns_get_name (gpointer item);

G_END_DECLS
