/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Names every button below @root for assistive technology: by its text without the mark of the
 * mnemonic, else by its tooltip. */
void adj_name_widgets (GtkWidget *root);

G_END_DECLS
