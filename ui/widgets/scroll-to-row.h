/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Brings row @row of @n equally high ones to the middle, unless it is in view, as soon as the list
 * has its size: GtkListView of 4.8 cannot.  @list stands in a GtkScrolledWindow and is mapped, else
 * nothing happens; the last call counts. */
void adj_scroll_to_row (GtkWidget *list, guint row, guint n);

G_END_DECLS
