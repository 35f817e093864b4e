/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-builder.h"

G_BEGIN_DECLS

/* Operators that the table lacks, which a plugin or a caller has brought: calls have them by node
 * (AdjNode.op), and what names one among its arguments (with_effects, out_dtype) by the graph. */

/* @op, which must outlive the graph, is what "torch.ops.mine.bump.default" names in it. */
void adj_builder_note_op (AdjBuilder *builder, const char *target, const AdjOp *op);
/* Those of @graph. */
void adj_builder_note_ops_of (AdjBuilder *builder, const AdjGraph *graph);

/* (nullable): what @target names in @graph: an operator of its own, or of the table that it was
 * built with. */
const AdjOp *adj_graph_find_op (const AdjGraph *graph, const char *target);
/* (nullable): the same, of its own alone. */
const AdjOp *adj_graph_find_own_op (const AdjGraph *graph, const char *target);

G_END_DECLS
