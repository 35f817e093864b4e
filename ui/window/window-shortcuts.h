/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The keys of all commands, from the tables that give them their keys. */
GtkShortcutsWindow *adj_shortcuts_window_new (void);

G_END_DECLS
