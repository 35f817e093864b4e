/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Every command of the window, from one table. */
void adj_window_add_actions (AdjWindow *self);
/* Switches on what can be done now. */
void adj_window_update_actions (AdjWindow *self);
/* Keys, from the same table. */
void adj_window_add_accels (GtkApplication *application);

G_END_DECLS
