/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* What follows from a sealed graph: computed when somebody first asks, and kept with the graph. */

typedef struct
{
  gpointer (*compute) (const AdjGraph *graph); /* (transfer full) (not nullable) */
  GDestroyNotify free;
} AdjGraphAnalysis;

/* The result of @analysis, which is static and stands for itself.  (transfer none): valid as long
 * as @graph.  Any thread may ask: of results that several threads computed at once, one is kept. */
gconstpointer adj_graph_analyse (const AdjGraph *graph, const AdjGraphAnalysis *analysis);

G_END_DECLS
