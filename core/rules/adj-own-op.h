/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* Operators defined by a program.  They are called by adj_call() and differentiated, traced and run
 * like those of the table; a reader of graphs finds them by its AdjFindOpFunc, which should ask
 * adj_op_find() for all others. */

/**
 * adj_op_new:
 * @record: as those of core/ops: a schema in a namespace of its own ("mine::cube(Tensor self) ->
 *   Tensor"), a body `expr` or the functions `meta` and `kernel`, perhaps a rule `grad`, which may
 * call the operator itself ("self: mine.cube(grad)"); its texts must outlive the operator, and
 * `parsed` is left out
 *
 * Flags for variants (in place, out=) are ignored.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_PARSE when its schema, its body or one
 *   of its rules cannot be parsed, or names something unknown
 */
ADJ_PUBLIC AdjOp *adj_op_new (const AdjOp *record, GError **error);
/* @op: (nullable): made by adj_op_new(); must outlive every graph, tensor with history and context
 * that uses it. */
ADJ_PUBLIC void adj_op_free (AdjOp *op);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjOp, adj_op_free)

G_END_DECLS
