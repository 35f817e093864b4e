/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* Stretches of calls that come again and again, as a model's layers do: what a graph without names
 * of modules has in their place. */

#define ADJ_NO_BLOCK G_MAXUINT32

typedef struct
{
  AdjModule module;         /* its path is "models.py:40–71 · 3 of 76", without a class */
  const char *name;         /* "models.py:40–71", or "22 calls" where there are no source lines */
  guint32 run;              /* blocks of one sequence have one number */
  guint position, n_of_run; /* 3, 76 */
  guint32 first, end;       /* calls of forward that begin it, and the next one */
} AdjBlock;

typedef struct
{
  guint n_blocks;
  const AdjBlock *blocks; /* in order of execution */
  const guint32 *of_node; /* block of each node, of its forward call in backward; or ADJ_NO_BLOCK */
} AdjBlocks;

/* None where any node names its module.  (transfer none): valid as long as @graph. */
const AdjBlocks *adj_graph_get_blocks (const AdjGraph *graph);

/* Stages of one program have the same blocks: those of @graph, which nobody has asked for yet, will
 * be those of @leader, or of the one that this follows, by the names of calls.  Of a graph that has
 * few names in common with it, its own. */
void adj_graph_follow_blocks (const AdjGraph *graph, AdjGraph *leader);
/* (transfer none) (nullable) */
AdjGraph *adj_graph_get_blocks_leader (const AdjGraph *graph);

G_END_DECLS
