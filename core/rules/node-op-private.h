/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-schema.h"
#include "rules/adj-node-op.h"
#include "rules/adj-rule.h"

G_BEGIN_DECLS

/* What the files of nodes of backwards share. */

#define NODE_OP_PREFIX "torch._dynamo.compiled_autograd.ops."

/* (nullable): the record of the operator that @self is the gradient of. */
const AdjOp *node_op_find_operator (const AdjNodeOp *self);
/* %TRUE: argument @arg is taken to be as large as argument @index (out). */
gboolean
node_op_find_alike (const AdjNodeOp *self, const AdjSchema *schema, guint arg, guint *index);

/* -- one call (node-call.c) -- */

/* What is known of an argument that is not kept itself. */
typedef struct
{
  gboolean has_any;
  AdjTensorMeta meta;
} DescribedArgument;

typedef struct
{
  AdjContext *cx;
  const AdjNodeOp *self;
  const AdjRule *rule;
  const AdjSchema *schema;
  AdjArena *arena;
  guint64 kept_args; /* bit i: argument i is an attribute */
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjValue results[ADJ_MAX_ARGUMENTS];
  DescribedArgument described[ADJ_MAX_ARGUMENTS];
  guint n_items[ADJ_MAX_ARGUMENTS]; /* of an argument that is a list */
  AdjTensorMeta form;               /* of a gradient */
} NodeCall;

/* The context is in error, which names the node; %FALSE. */
gboolean node_call_fail (const NodeCall *call, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* -- attributes (node-attributes.c) -- */

/* What the attribute @name, which must outlive @out, is of; %FALSE: nothing of @schema is called
 * so.
 */
gboolean node_attribute_find (const AdjSchema *schema, const char *name, AdjNodeAttribute *out);
/* Puts the value of the attribute @name where the rule looks for it; %FALSE: the context is in
 * error. */
gboolean node_call_take (NodeCall *call, const char *name, const AdjValue *value);

G_END_DECLS
