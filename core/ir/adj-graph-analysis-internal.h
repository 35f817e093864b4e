/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A result derived from a sealed graph: computed on first use, then kept with the graph. */

typedef struct
{
  gpointer (*compute) (const AdjGraph *graph); /* (transfer full) (not nullable) */
  GDestroyNotify free;
} AdjGraphAnalysis;

/* The result of @analysis, which is static and identified by its address. (transfer none): valid as
 * long as @graph. Callable from any thread; if several compute it at once, one result is kept. */
gconstpointer adj_graph_analyse (const AdjGraph *graph, const AdjGraphAnalysis *analysis);
/* Keeps @result (transfer full) as the result of @analysis; frees it if the graph already has one.
 */
void
adj_graph_keep_analysis (const AdjGraph *graph, const AdjGraphAnalysis *analysis, gpointer result);

G_END_DECLS
