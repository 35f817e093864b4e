/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* What leaves the window: files, pictures, reports, links.  Each is what a command runs. */

/* Over the file that the tab came from, when that is an .adjoint; else as adj_save_as(). */
void adj_save (AdjWindow *self, GVariant *unused);
void adj_save_as (AdjWindow *self, GVariant *unused);

void adj_export (AdjWindow *self, GVariant *unused);
void adj_export_view (AdjWindow *self, GVariant *unused);
void adj_export_selection (AdjWindow *self, GVariant *unused);
void adj_export_report (AdjWindow *self, GVariant *unused);

/* To the node that is looked at, else to the graph. */
void adj_copy_link (AdjWindow *self, GVariant *unused);
void adj_copy_graph_link (AdjWindow *self, GVariant *id);

/* Gives up closing what was to close once it is saved. */
void adj_window_stay (AdjWindow *self);
/* The module with which PyTorch records a training step, to be put beside a script. */
void adj_save_module (AdjWindow *self, GVariant *unused);

G_END_DECLS
