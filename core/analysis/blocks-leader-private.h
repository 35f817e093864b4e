/* SPDX-License-Identifier: MIT */
#pragma once

#include "analysis/adj-blocks.h"

G_BEGIN_DECLS

/* Fills for each node of @graph its block in the graph that it follows (ADJ_NO_BLOCK: none), and
 * returns that graph's blocks; %NULL: it follows none, or has little in common with it. */
const AdjBlocks *blocks_of_leader (const AdjGraph *graph, guint32 *of_node);

/* The block of a gradient: that of its @counterpart; a sum of gradients, or a gradient without
 * counterpart, is in the block of the last gradient that it reads.  Or ADJ_NO_BLOCK. */
guint32 blocks_of_gradient (const AdjGraph *graph,
                            guint32 index,
                            guint32 counterpart,
                            const guint32 *of_node);

/* Backward nodes computed from inputs only, such as the transpose of a weight, get the block of
 * their readers, if they have none and all readers have the same. */
void blocks_take_readers (const AdjGraph *graph, guint32 *of_node);

G_END_DECLS
