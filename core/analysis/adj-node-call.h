/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"
#include "ops/adj-packet.h"

G_BEGIN_DECLS

/* What a node calls, by the operator table. */

/* (transfer none) (nullable): the overloads that a call of a method or of a function of Python may
 * mean; %NULL: the node calls an operator, nothing, or what nobody knows. */
const AdjPacket *adj_node_find_packet (const AdjNode *node);

/* (transfer none) (nullable): the operator that @node calls, if it has one of @flags; of a method
 * and of a function of Python, the first overload that has. */
const AdjOp *adj_node_find_op (const AdjNode *node, AdjOpFlags flags);

/* (transfer none) (nullable): of what @node calls; of a method and of a function of Python, that of
 * its first overload. */
const AdjSchema *adj_node_find_schema (const AdjNode *node);
/* (transfer none) (nullable): argument @index of @schema, which is of what @node calls, where @node
 * gives it. */
const AdjValue *adj_node_find_argument (const AdjNode *node, const AdjSchema *schema, guint index);

/* Whether `inplace=True` is given by name: then the result is the first argument. */
gboolean adj_node_is_told_in_place (const AdjNode *node);

/* Whether what @node calls may write to something that it is given: by its schema, of a method and
 * of a function of Python by any of its overloads (`out=`, `inplace=True`), and of what nobody
 * knows by its name. */
gboolean adj_node_may_write (const AdjNode *node);

G_END_DECLS
