/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/window-commands.h"

G_BEGIN_DECLS

/* Commands of the view; those without a comment take no parameter. */

void adj_zoom_in (AdjWindow *self, GVariant *parameter);
void adj_zoom_out (AdjWindow *self, GVariant *parameter);
void adj_zoom_to_original (AdjWindow *self, GVariant *parameter);
void adj_zoom_to_fit (AdjWindow *self, GVariant *parameter);
void adj_zoom_to_selection (AdjWindow *self, GVariant *parameter);
void adj_fold_all (AdjWindow *self, GVariant *parameter);
void adj_unfold_all (AdjWindow *self, GVariant *parameter);
void adj_show_flow (AdjWindow *self, GVariant *parameter);
void adj_toggle_fullscreen (AdjWindow *self, GVariant *parameter);
/* @parameter: its path */
void adj_toggle_module (AdjWindow *self, GVariant *parameter);

G_END_DECLS
