/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The group of node @index: nodes are only merged with equal ones of the same group; 0: never
 * merged. */
typedef gint (*AdjMergeGroup) (const AdjGraph *graph, guint index, gpointer data);

/* For each node the first node that makes the same call: same target and arguments (types included)
 * after merging repeats among the arguments, without a write in between; or itself. (transfer full)
 * (array length=n_nodes) */
guint32 *adj_graph_find_repeats (const AdjGraph *graph, AdjMergeGroup group, gpointer data);
/* The same, ignoring writes: calls whose text is the same. */
guint32 *adj_graph_find_same_calls (const AdjGraph *graph, AdjMergeGroup group, gpointer data);
/* The repeats that PyTorch's fx_graph_cse() finds: it looks calls up by Python's hash() of their
 * arguments, in which -1 equals -2 and 2^63 - 1 equals 3, and keeps only the first call of a hash;
 * so after `x[:-1]` the second `x[:-2]` is computed again. */
guint32 *adj_graph_find_torch_repeats (const AdjGraph *graph, AdjMergeGroup group, gpointer data);

G_END_DECLS
