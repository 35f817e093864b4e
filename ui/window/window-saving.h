/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Commands that write files, pictures, reports and links. */

/* Overwrites the tab's file, if it is an .adjoint; else as adj_save_as(). */
void adj_save (AdjWindow *self, GVariant *unused);
void adj_save_as (AdjWindow *self, GVariant *unused);

void adj_export (AdjWindow *self, GVariant *unused);
void adj_export_view (AdjWindow *self, GVariant *unused);
void adj_export_selection (AdjWindow *self, GVariant *unused);
void adj_export_report (AdjWindow *self, GVariant *unused);

/* Copies a link to the current node, else to the graph. */
void adj_copy_link (AdjWindow *self, GVariant *unused);
void adj_copy_graph_link (AdjWindow *self, GVariant *id);

/* Cancels the closing of tabs that waited for being saved. */
void adj_window_stay (AdjWindow *self);
/* Saves the module by which PyTorch records a training step, to be put beside a script. */
void adj_save_module (AdjWindow *self, GVariant *unused);

G_END_DECLS
