/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Of every call from the first one on that depends on a tangent the forward call whose gradient it
 * helps to compute, by nothing but the graph: by the values that both read, by the way the
 * gradients came, by names of operators and source lines.  Views have that of what they look at;
 * G_MAXUINT32: none was found, or the node is of forward or updates parameters.  (transfer none)
 * (array length=n_nodes): valid as long as @graph. */
const guint32 *adj_graph_get_counterparts (const AdjGraph *graph);

/* Whether gradients of several readers of one value meet in node @index; the sequence number and
 * the line of such a sum are left over from whatever ran before. */
gboolean adj_graph_adds_gradients (const AdjGraph *graph, guint index);

G_END_DECLS
