/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-trace.h"

G_BEGIN_DECLS

/* Whether @graph is a backward that compiled autograd captured. */
gboolean graph_is_captured (const AdjGraph *graph);
/* As adj_retrace(), for such a graph. */
AdjGraph *
retrace_captured (AdjGraph *graph, const AdjDecompositions *decompositions, GError **error);

G_END_DECLS
