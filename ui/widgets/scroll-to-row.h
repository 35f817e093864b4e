/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Scrolls row @row of @n equally high ones to the middle, unless it is in view, as soon as the list
 * is allocated; GtkListView of 4.8 has no function for that.  @list must be mapped and in a
 * GtkScrolledWindow, else nothing happens; a later call replaces an earlier one. */
void adj_scroll_to_row (GtkWidget *list, guint row, guint n);

G_END_DECLS
