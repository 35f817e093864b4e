/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "layout/adj-placement.h"

G_BEGIN_DECLS

/* Runs Graphviz in helper processes: it keeps global state and cannot be stopped in a call. */

typedef struct
{
  const AdjBlockGraph *graph;
  AdjPlacement *placement; /* out (owned); %NULL where the helper failed or took too long */
} AdjLayoutJob;

typedef void (*AdjLayoutJobDone) (guint n_done, gpointer data);

/**
 * adj_layout_pool_run:
 * @budget: microseconds for one job; 0: half a second
 * @done: called after every job
 *
 * Returns: %FALSE with G_IO_ERROR_CANCELLED; then the helpers are killed
 */
gboolean adj_layout_pool_run (AdjLayoutJob *jobs,
                              guint n,
                              gint64 budget,
                              AdjLayoutJobDone done,
                              gpointer data,
                              GCancellable *cancellable,
                              GError **error);

G_END_DECLS
