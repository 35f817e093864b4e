/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The window of all keys, from the tables of commands. */
GtkShortcutsWindow *adj_shortcuts_window_new (void);

G_END_DECLS
