/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* What asks before it acts. */

/* Which file to open. */
void adj_window_ask_open (AdjWindow *self);

/* Which folder of a TORCH_TRACE run to open. */
void adj_window_ask_open_folder (AdjWindow *self);
/* From which seed to draw inputs; runs. */
void adj_window_ask_seed (AdjWindow *self);
/* Which file has the inputs of runs. */
void adj_window_ask_inputs (AdjWindow *self);
/* Which file has the values to compare with; compares. */
void adj_window_ask_values (AdjWindow *self);
/* Which snapshot of the memory of a GPU to lay over what the graph holds; shows the page. */
void adj_window_ask_snapshot (AdjWindow *self);
/* As what to keep what came out of the last run. */
void adj_window_ask_keep (AdjWindow *self);
/* Shows @uri among the files of its folder. */
void adj_window_show_file (AdjWindow *self, const char *uri);

/* Traces the shown graph, in its tab where it is the only one there; asks first which inputs
 * require a gradient, where nothing says. */
void adj_window_ask_trace (AdjWindow *self);

G_END_DECLS
