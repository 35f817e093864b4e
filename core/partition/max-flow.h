/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "base/adj-error.h"

G_BEGIN_DECLS

/* Minimum cuts between two vertices of a directed network with integer capacities. */

typedef struct
{
  guint32 from, to;
  gint64 capacity; /* 0… */
  gint64 cost;     /* of cutting this edge, to choose among cuts of least capacity */
} AdjFlowEdge;

/* Which minimum cut to take.  Each choice is deterministic. */
typedef enum
{
  ADJ_CUT_NEAREST_SINK, /* the one with the fewest vertices on the side of the sink */
  ADJ_CUT_CHEAPEST,     /* the least sum of costs, and among these the one nearest the sink */
} AdjCutChoice;

/**
 * adj_min_cut:
 * @edges: between vertices 0 … @n_vertices - 1; loops and parallel edges are allowed
 * @cancellable: (nullable)
 * @on_sink_side: (out caller-allocates): for each vertex whether the cut leaves it with the sink
 *
 * The sum of all capacities must stay below 2^62, and so must that of all costs; an edge that must
 * not be cut gets a capacity above the sum of all others.
 *
 * Returns: the value of the cut, which is that of the largest flow; -1: cancelled
 */
gint64 adj_min_cut (guint n_vertices,
                    const AdjFlowEdge *edges,
                    guint n_edges,
                    guint source,
                    guint sink,
                    AdjCutChoice choice,
                    GCancellable *cancellable,
                    guint8 *on_sink_side);

G_END_DECLS
