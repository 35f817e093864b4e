/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Context menus, made from the tables of commands. */

/* (transfer full): the content of @menu.  @target: for commands that take a string */
GMenuModel *adj_context_menu_new (AdjMenu menu, const char *target);

/* @request: an AdjMenu, its target, and a rectangle of the window, as adj_context_menu_open ()
 * sends them. */
void adj_window_pop_menu (AdjWindow *self, GVariant *request);
void adj_window_add_context_menu (AdjWindow *self);

G_END_DECLS
