/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-schema.h"
#include "rules/adj-node-op.h"
#include "rules/adj-rule.h"

G_BEGIN_DECLS

/* Shared by the files about backward nodes. */

#define NODE_OP_PREFIX "torch._dynamo.compiled_autograd.ops."

/* (nullable): the operator whose gradient @self is. */
const AdjOp *node_op_find_operator (const AdjNodeOp *self);
/* %TRUE: the sizes of argument @arg are those of argument @index (out). */
gboolean
node_op_find_alike (const AdjNodeOp *self, const AdjSchema *schema, guint arg, guint *index);

/* -- one call (node-call.c) -- */

/* Metadata of an argument that is not saved itself. */
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
  AdjTensorMeta form;               /* metadata of a defined gradient */
} NodeCall;

/* Sets the error of the context, which names the node; returns %FALSE. */
gboolean node_call_fail (const NodeCall *call, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* -- attributes (node-attributes.c) -- */

/* Resolves the attribute @name, which must outlive @out; %FALSE: @schema has nothing of that name.
 */
gboolean node_attribute_find (const AdjSchema *schema, const char *name, AdjNodeAttribute *out);
/* Stores the value of attribute @name where the rule reads it; %FALSE: the context is in error. */
gboolean node_call_take (NodeCall *call, const char *name, const AdjValue *value);

G_END_DECLS
