/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Nodes of a backward as compiled autograd writes them from PyTorch 2.7 on: one call,
 * `ops.MulBackward0 ([gradients], [whether each is needed], attributes…)`, in place of the
 * operators that the node's formula calls. */

typedef struct
{
  const char *name;   /* "MulBackward0" */
  const char *op;     /* "mul.Tensor": the operator whose gradient it is */
  const char *inputs; /* "self other": arguments with a gradient, in the order of the results */
  const char *kept;   /* "other other_scalar_type self self_scalar_type": the attributes */
} AdjNodeOp;

/* (nullable): what the target "torch._dynamo.compiled_autograd.ops.MulBackward0" calls; %NULL: no
 * node of PyTorch's. */
const AdjNodeOp *adj_node_op_find (const char *target);

/* Evaluates the gradient rule of the operator.  @args: gradients (LIST), flags (LIST), attributes,
 * @n_args of them; @out (transfer full): TUPLE, NONE for gradients that are not needed or
 * undefined. %FALSE: the context is in error: the operator is none of the table or has no rule, or
 * the rule reads what the node does not keep. */
gboolean adj_node_op_call (
    AdjContext *cx, const AdjNodeOp *self, const AdjValue *args, guint n_args, AdjValue *out);

/* By index, below how many there are; for who lists them. */
guint adj_node_ops_get_n (void);
const AdjNodeOp *adj_node_ops_get (guint index);

G_END_DECLS
