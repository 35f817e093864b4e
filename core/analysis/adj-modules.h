/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* The modules of the model that a node is in, from the outermost; of a gradient that was recorded
 * without any, those of its forward counterpart.  (transfer none) (nullable) (array length=n) */
const AdjModule *adj_node_get_modules (const AdjNode *node, guint *n);

/* The path of the innermost of them, "h.0.attn"; "" where there are none.  (transfer none) */
const char *adj_node_get_module_path (const AdjNode *node);

/* The same of node @index; where no gradient names any, as in captures of PyTorch 2.4, those of the
 * forward node with its sequence number; where no node of @graph names a module, the block that it stands in
 * (analysis/adj-blocks.h). */
const AdjModule *adj_graph_get_modules (const AdjGraph *graph, guint index, guint *n);
const char *adj_graph_get_module_path (const AdjGraph *graph, guint index);

G_END_DECLS
