/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Names every button below @root for assistive technology: by its text without the mark of the
 * mnemonic, else by its tooltip. */
void adj_name_widgets (GtkWidget *root);
/* Names the list that @widget, a drop-down list or a row with one, lets choose from, and its rows
 * whenever it is shown. */
void adj_name_choices (GtkWidget *widget, const char *name);

G_END_DECLS
