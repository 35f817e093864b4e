/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* Repeated stretches of calls, such as the layers of a model; they replace modules in graphs
 * without module names. */

#define ADJ_NO_BLOCK G_MAXUINT32

typedef struct
{
  AdjModule module;         /* its path is "models.py:40–71 · 3 of 76", without a class */
  const char *name;         /* "models.py:40–71", or "22 calls" where there are no source lines */
  guint32 run;              /* number of the run: the same for all blocks of one sequence */
  guint position, n_of_run; /* 3 and 76 of "3 of 76" */
  guint32 first, end;       /* index of its first forward call, and of the next block's */
} AdjBlock;

typedef struct
{
  guint n_blocks;
  const AdjBlock *blocks; /* in order of execution */
  const guint32 *of_node; /* block of each node, in backward of its forward call; or ADJ_NO_BLOCK */
} AdjBlocks;

/* Empty if any node names its module.  (transfer none): valid as long as @graph. */
const AdjBlocks *adj_graph_get_blocks (const AdjGraph *graph);

/* Makes the blocks of @graph, which must not have been computed yet, those of @leader (or of the
 * graph that it follows), matched by names of calls, so that stages of one program have the same
 * blocks. A graph that has few names in common with it gets its own. */
void adj_graph_follow_blocks (const AdjGraph *graph, AdjGraph *leader);
/* (transfer none) (nullable) */
AdjGraph *adj_graph_get_blocks_leader (const AdjGraph *graph);

G_END_DECLS
