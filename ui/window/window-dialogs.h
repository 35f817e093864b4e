/* SPDX-License-Identifier: MIT */
#pragma once

#include "window/adj-window.h"

G_BEGIN_DECLS

/* Commands that ask before they act. */

/* Asks for a file to open. */
void adj_window_ask_open (AdjWindow *self);

/* Asks for the folder of a TORCH_TRACE run to open. */
void adj_window_ask_open_folder (AdjWindow *self);
/* Asks for the seed of random inputs; runs. */
void adj_window_ask_seed (AdjWindow *self);
/* Asks for a file with the inputs of runs. */
void adj_window_ask_inputs (AdjWindow *self);
/* Asks for a file of values to compare with; compares. */
void adj_window_ask_values (AdjWindow *self);
/* Asks for a memory snapshot of a GPU to compare with; shows the memory page. */
void adj_window_ask_snapshot (AdjWindow *self);
/* Asks for the name of the last run to keep. */
void adj_window_ask_keep (AdjWindow *self);
/* Shows @uri among the files of its folder. */
void adj_window_show_file (AdjWindow *self, const char *uri);

/* Traces the shown graph, in its tab if it is the only graph there; asks first which inputs require
 * a gradient, if nothing says so. */
void adj_window_ask_trace (AdjWindow *self);

G_END_DECLS
