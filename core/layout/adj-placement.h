/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* One half of a row as a layered drawing problem, and its answer.  Data always flows down: a
 * backward half is turned over afterwards.  This is also what the helper program reads and writes.
 */

/* Nodes are numbered cards first, then entries (values from above), then exits (values wanted
 * below). */
typedef struct
{
  guint32 n_cards, n_entries, n_exits;
  float *widths; /* of the cards, including their chips */
  guint32 n_links;
  guint32 (*links)[2]; /* from, to */
} AdjBlockGraph;

#define ADJ_BLOCK_MAX_NODES (1u << 16)
#define ADJ_BLOCK_MAX_LINKS (1u << 18)
#define ADJ_CARD_DISTANCE 24.0f /* between neighbours of a rank */

static inline guint32
adj_block_graph_n_nodes (const AdjBlockGraph *graph)
{
  return graph->n_cards + graph->n_entries + graph->n_exits;
}

AdjBlockGraph *
adj_block_graph_new (guint32 n_cards, guint32 n_entries, guint32 n_exits, guint32 n_links);
void adj_block_graph_free (AdjBlockGraph *graph);
GBytes *adj_block_graph_to_bytes (const AdjBlockGraph *graph);
/* %NULL when @bytes is not what the function above made, or is too large. */
AdjBlockGraph *adj_block_graph_from_bytes (GBytes *bytes);

/* Where the nodes are.  Cards have ranks 0 … n_ranks - 1, entries -1, exits n_ranks. */
typedef struct
{
  gint32 n_ranks;
  guint32 n_nodes, n_links;
  gint32 *ranks;
  float *x;       /* centres */
  guint32 *first; /* n_links + 1: the crossing of link k at the first rank between its ends */
  float *via;     /* x of the crossings */
} AdjPlacement;

AdjPlacement *adj_placement_new (const AdjBlockGraph *graph, const gint32 *ranks, gint32 n_ranks);
void adj_placement_free (AdjPlacement *placement);
AdjPlacement *adj_placement_copy (const AdjPlacement *placement);
GBytes *adj_placement_to_bytes (const AdjPlacement *placement);
/* %NULL when @bytes is no placement of @graph. */
AdjPlacement *adj_placement_from_bytes (GBytes *bytes, const AdjBlockGraph *graph);

/* Our own layering: longest path, two barycentre sweeps.  Deterministic, never fails. */
AdjPlacement *adj_placement_layer (const AdjBlockGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBlockGraph, adj_block_graph_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjPlacement, adj_placement_free)

G_END_DECLS
