/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Sets the accessible name of every button below @root: its text without the mnemonic mark, else
 * its tooltip. */
void adj_name_widgets (GtkWidget *root);
/* Names the list of @widget, a drop-down list or a row with one, and its rows whenever it is shown.
 */
void adj_name_choices (GtkWidget *widget, const char *name);

G_END_DECLS
