/* SPDX-License-Identifier: MIT */
#pragma once

#include "compiled_autograd/adj-compiled-autograd.h"
#include "passes/adj-recording.h"

G_BEGIN_DECLS

/* Orders of a captured graph by name, as in the options of steps. */

/* "eager", "2024", "2.6", "2.15" or "nodes"; %NULL: eager.  Sets order and level of @options,
 * whether gradients of writes into views are written, as by PyTorch 2.6, and whether sizes are
 * symbols from the start, as they are for PyTorch 2.15: the last two are of nodes, "nodes" in the
 * engine's order. */
gboolean adj_capture_order_find (const char *name, AdjCompiledOptions *options, GError **error);

/* (nullable): the PyTorch release whose gradients are used for graphs of @order; see
 * adj_context_set_release(). */
const char *adj_capture_order_get_release (AdjCaptureOrder order);

/* Adds the stages of the capture to @recording: "replayed" with the reason why it was made, then
 * each move of the order, and "dce".  %FALSE with ADJ_ERROR_VERIFY when a move broke the graph. */
gboolean adj_capture_record (const AdjCapture *capture, AdjRecording *recording, GError **error);

/* Number of runs of the capture. */
guint64 adj_capture_get_n_runs (const AdjCapture *capture);

G_END_DECLS
