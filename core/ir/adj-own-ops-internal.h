/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-builder.h"

G_BEGIN_DECLS

/* Operators that are not in the table and come from a plugin or a caller. A call finds its operator
 * in AdjNode.op; one that is named in arguments (with_effects, out_dtype) is looked up in the
 * graph. */

/* Makes @target, "torch.ops.mine.bump.default", name @op in the graph; @op must outlive it. */
void adj_builder_note_op (AdjBuilder *builder, const char *target, const AdjOp *op);
/* Registers the operators that @graph holds. */
void adj_builder_note_ops_of (AdjBuilder *builder, const AdjGraph *graph);

/* (nullable): what @target names in @graph: an operator of its own, or of the table that it was
 * built with. */
const AdjOp *adj_graph_find_op (const AdjGraph *graph, const char *target);
/* (nullable): the same, but only among operators of its own. */
const AdjOp *adj_graph_find_own_op (const AdjGraph *graph, const char *target);

G_END_DECLS
