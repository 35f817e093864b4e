/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * adj_graph_compose:
 * @forward: a partitioned forward graph; it returns its outputs, then the saved values
 * @backward: the backward graph, which takes the saved values, then tangents
 * @num_fwd_outputs: number of @forward's outputs before the saved values
 *
 * Puts a partitioned pair together again: takes primals, then tangents; returns the outputs of
 * @forward, then those of @backward, as the joint graph does.  Saved tensors and saved sizes are in
 * different order in the two graphs (passes/SPEC.md §3).  Names of @backward that @forward also
 * uses get a suffix.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_SHAPE when the two do not fit
 */
ADJ_PUBLIC AdjGraph *
adj_graph_compose (AdjGraph *forward, AdjGraph *backward, guint num_fwd_outputs, GError **error);

/* The node of @forward whose value is input @placeholder of @backward; ADJ_NO_NODE: none, as for
 * tangents, or the two graphs do not fit. */
ADJ_PUBLIC AdjNodeId adj_compose_find_saved (const AdjGraph *forward,
                                             const AdjGraph *backward,
                                             guint num_fwd_outputs,
                                             AdjNodeId placeholder);

G_END_DECLS
