/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"
#include "ops/adj-packet.h"

G_BEGIN_DECLS

/* The callee of a node, by the operator table. */

/* (transfer none) (nullable): the overloads that a call of a method or Python function may mean;
 * %NULL: the node calls an operator, nothing, or something unknown. */
const AdjPacket *adj_node_find_packet (const AdjNode *node);

/* (transfer none) (nullable): the operator that @node calls, if it has one of @flags; of a method
 * or Python function the first overload that has one. */
const AdjOp *adj_node_find_op (const AdjNode *node, AdjOpFlags flags);

/* (transfer none) (nullable): the schema of the callee; of a method or Python function that of the
 * first overload. */
const AdjSchema *adj_node_find_schema (const AdjNode *node);
/* (transfer none) (nullable): argument @index of @schema, the callee's, if @node passes it. */
const AdjValue *adj_node_find_argument (const AdjNode *node, const AdjSchema *schema, guint index);

/* Whether `inplace=True` is passed by keyword: then the result is the first argument. */
gboolean adj_node_is_told_in_place (const AdjNode *node);

/* Whether the callee of @node may write to an argument: by its schema, for a method or Python
 * function by any overload (`out=`, `inplace=True`), and for an unknown callee by its name. */
gboolean adj_node_may_write (const AdjNode *node);

G_END_DECLS
