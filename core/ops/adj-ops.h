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

/* What computes the new values of the arguments that @op writes, from the same arguments: its base,
 * or the record of that name.  Its results are those of @op that are no argument, then the new
 * values.  %NULL when there is none. */
ADJ_PUBLIC const AdjOp *adj_op_get_functional (const AdjOp *op);

/* What an operator over lists (`_foreach_add.List`) or its variant does with the i-th elements:
 * @from (out): where argument k of it stands among those of @op; -1: it has its default.  %NULL for
 * all others. */
const AdjOp *adj_op_get_element (const AdjOp *op, const gint8 **from);
/* Its arguments for the @i-th elements of @args, those of @op. */
void adj_op_take_element (const AdjOp *op, const AdjValue *args, guint i, AdjValue *out);

/* Whether it writes a list of tensors one of which may show what another reads or writes. */
gboolean adj_op_call_has_coupled_elements (const AdjOpCall *call);
/* What it does with each element, one after the other, as PyTorch's kernels do it. */
gboolean adj_op_call_in_turn (AdjOpCall *call);

/* (transfer full) (nullable): an operator that is not of the table, made of @record, whose texts
 * must outlive it.  %NULL with ADJ_ERROR_PARSE: schema or body cannot be read. */
AdjOp *adj_op_new_own (const AdjOp *record, GError **error);
void adj_op_free_own (AdjOp *op);
gboolean adj_op_is_own (const AdjOp *op);
/* What rules/ keeps of an operator; @rules: (transfer full): freed by @free_rules (nullable) with
 * one that is not of the table. */
void adj_op_set_rules (AdjOp *op, gpointer rules, GDestroyNotify free_rules);
gconstpointer adj_op_get_rules (const AdjOp *op); /* (nullable) */

/* The pointwise body of @op, parsed; %NULL when it has none. */
const AdjExpr *adj_op_get_body (const AdjOp *op);

/* Floating-point operations of an inferred call: arithmetic counts 1, transcendental functions 8.
 */
ADJ_PUBLIC double adj_op_call_get_flops (const AdjOpCall *call);

/* How many values one element of the results sums over; 1 for what is no reduction. */
ADJ_PUBLIC double adj_op_call_get_reduction (const AdjOpCall *call);
/* What is known of LAPACK, which linear algebra needs, or why it is not there. */
ADJ_PUBLIC const char *adj_ops_describe_lapack (gboolean *available);
/* That of its operator; with complex numbers pointwise arithmetic is several steps. */
ADJ_PUBLIC AdjBand adj_op_call_get_band (const AdjOpCall *call);

G_END_DECLS
