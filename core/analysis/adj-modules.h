/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* The modules that contain a node, outermost first; for a gradient recorded without modules, those
 * of its forward counterpart.  (transfer none) (nullable) (array length=n) */
const AdjModule *adj_node_get_modules (const AdjNode *node, guint *n);

/* The path of the innermost of them, "h.0.attn"; "" where there are none.  (transfer none) */
const char *adj_node_get_module_path (const AdjNode *node);

/* The same for node @index; if no gradient has modules, as in captures of PyTorch 2.4, those of the
 * forward node with its sequence number; if no node of @graph has modules, the block that contains
 * it (analysis/adj-blocks.h). */
const AdjModule *adj_graph_get_modules (const AdjGraph *graph, guint index, guint *n);
const char *adj_graph_get_module_path (const AdjGraph *graph, guint index);

G_END_DECLS
