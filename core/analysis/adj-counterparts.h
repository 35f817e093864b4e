/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* For each call from the first one on that depends on a tangent: the index of the forward call
 * whose gradient it helps to compute.  Derived from the graph alone: the values that both read, the
 * path of the gradients, names of operators and source lines.  Views have that of their base;
 * G_MAXUINT32: none was found, or the node is of forward or updates parameters.  (transfer none)
 * (array length=n_nodes): valid as long as @graph. */
const guint32 *adj_graph_get_counterparts (const AdjGraph *graph);

/* Whether node @index sums gradients of several readers of one value.  The sequence number and the
 * line of such a sum are those of the node before it and say nothing about it. */
gboolean adj_graph_adds_gradients (const AdjGraph *graph, guint index);

G_END_DECLS
