/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "call/adj-op.h"
#include "ops/adj-op-table.h"

G_BEGIN_DECLS

/* A record of the table; their names are in adj-op-id.h, which changes with every new one. */
typedef enum AdjOpId AdjOpId;

/* The operator of a record; never %NULL. */
ADJ_PUBLIC const AdjOp *adj_op (AdjOpId id);

/* The record that an in-place or copy variant was derived from; %NULL for records themselves. */
ADJ_PUBLIC const AdjOp *adj_op_get_base (const AdjOp *op);

/* The operator that computes, from the same arguments, the new values of those that @op writes: its
 * base, or the record of that name.  Its results are the results of @op that are no arguments, then
 * the new values.  %NULL when there is none. */
ADJ_PUBLIC const AdjOp *adj_op_get_functional (const AdjOp *op);

/* The operator that a list operator (`_foreach_add.List`) or its variant applies to the i-th
 * elements; @from (out): index of its argument k among those of @op; -1: the default.  %NULL if @op
 * is no list operator. */
const AdjOp *adj_op_get_element (const AdjOp *op, const gint8 **from);
/* Its arguments for element @i of @args, the arguments of @op. */
void adj_op_take_element (const AdjOp *op, const AdjValue *args, guint i, AdjValue *out);

/* Whether it writes a list of tensors one of which may overlap with what another element reads or
 * writes. */
gboolean adj_op_call_has_coupled_elements (const AdjOpCall *call);
/* Applies the element operator to one element after the other, as PyTorch's kernels do. */
gboolean adj_op_call_in_turn (AdjOpCall *call);

/* (transfer full) (nullable): an operator outside of the table, made from @record, whose texts must
 * outlive it.  %NULL with ADJ_ERROR_PARSE: schema or body cannot be parsed. */
AdjOp *adj_op_new_own (const AdjOp *record, GError **error);
void adj_op_free_own (AdjOp *op);
gboolean adj_op_is_own (const AdjOp *op);
/* The rules that rules/ caches for an operator; @rules: (transfer full): for an operator outside of
 * the table freed by @free_rules (nullable). */
void adj_op_set_rules (AdjOp *op, gpointer rules, GDestroyNotify free_rules);
gconstpointer adj_op_get_rules (const AdjOp *op); /* (nullable) */

/* The pointwise body of @op, parsed; %NULL when it has none. */
const AdjExpr *adj_op_get_body (const AdjOp *op);

/* Floating-point operations of an inferred call: arithmetic counts 1, transcendental functions 8.
 */
ADJ_PUBLIC double adj_op_call_get_flops (const AdjOpCall *call);

/* Number of values summed for one element of the results; 1 for operators that do not reduce. */
ADJ_PUBLIC double adj_op_call_get_reduction (const AdjOpCall *call);
/* Version of LAPACK, which linear algebra needs, or why it is not available. */
ADJ_PUBLIC const char *adj_ops_describe_lapack (gboolean *available);
/* The band of its operator; with complex numbers pointwise arithmetic takes several steps. */
ADJ_PUBLIC AdjBand adj_op_call_get_band (const AdjOpCall *call);

G_END_DECLS
