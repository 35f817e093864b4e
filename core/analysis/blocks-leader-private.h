/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/adj-blocks.h"

G_BEGIN_DECLS

/* Fills for each node of @graph its block of the graph that it follows (ADJ_NO_BLOCK: none), and
 * returns these; %NULL: it follows none, or has little in common with it. */
const AdjBlocks *blocks_of_leader (const AdjGraph *graph, guint32 *of_node);

/* The block of a gradient: that of its @counterpart; a sum of gradients, and what has no
 * counterpart, stands with the last gradient that it reads.  Or ADJ_NO_BLOCK. */
guint32 blocks_of_gradient (const AdjGraph *graph,
                            guint32 index,
                            guint32 counterpart,
                            const guint32 *of_node);

/* What backward computes of inputs alone, as the transpose of a weight, stands with its
 * readers, if it stands nowhere and these stand together. */
void blocks_take_readers (const AdjGraph *graph, guint32 *of_node);

G_END_DECLS
