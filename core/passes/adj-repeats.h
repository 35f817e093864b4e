/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The group of node @index, which may be one with an equal node of its group, as the first or as a
 * later one; 0: it stays by itself. */
typedef gint (*AdjMergeGroup) (const AdjGraph *graph, guint index, gpointer data);

/* For each node the first one that makes the same call: of the same target, with the same arguments
 * (types included) once repeats among these are one, and with no write in between; itself when
 * there is none.  (transfer full) (array length=n_nodes) */
guint32 *adj_graph_find_repeats (const AdjGraph *graph, AdjMergeGroup group, gpointer data);
/* Whatever is written in between: who reads the same text would call it the same. */
guint32 *adj_graph_find_same_calls (const AdjGraph *graph, AdjMergeGroup group, gpointer data);
/* As fx_graph_cse() of PyTorch finds them: it looks calls up by Python's hash() of their arguments,
 * to which -1 is -2 and 2^63 - 1 is 3, and of calls with one hash remembers the first alone; so the
 * second `x[:-2]` behind an `x[:-1]` is computed twice. */
guint32 *adj_graph_find_torch_repeats (const AdjGraph *graph, AdjMergeGroup group, gpointer data);

G_END_DECLS
