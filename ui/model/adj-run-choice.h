/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-graph-set.h"

G_BEGIN_DECLS

/* What a run starts from, and in which precision. */
typedef struct
{
  guint call;      /* recorded call, from 0 */
  gboolean random; /* instead: drawn from @seed */
  guint32 seed;
  gboolean float64;
} AdjRunChoice;

/* How many calls of @graph were recorded; counts to a bound that menus can show. */
guint adj_run_choice_count_calls (const AdjGraphSet *graphs, const AdjBundleGraph *graph);

/* The nearest that @graph can do: its first call when it has fewer, random inputs when none was
 * recorded. */
AdjRunChoice
adj_run_choice_fit (AdjRunChoice choice, const AdjGraphSet *graphs, const AdjBundleGraph *graph);

gboolean adj_run_choice_equal (AdjRunChoice a, AdjRunChoice b);

/* "call 2 · float64"; %NULL when it is the first recorded call as it was.  (transfer full) */
char *adj_run_choice_describe (AdjRunChoice choice);

G_END_DECLS
