/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Adds the actions of all commands, from their table. */
void adj_window_add_actions (AdjWindow *self);
/* Enables the actions that are possible now. */
void adj_window_update_actions (AdjWindow *self);
/* Adds the keys of all commands, from the same table. */
void adj_window_add_accels (GtkApplication *application);

G_END_DECLS
