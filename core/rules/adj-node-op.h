/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "call/adj-op.h"

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

/* (nullable): the node that the target "torch._dynamo.compiled_autograd.ops.MulBackward0" calls;
 * %NULL: no node of PyTorch's. */
const AdjNodeOp *adj_node_op_find (const char *target);

/* Evaluates the gradient rule of the operator.  @args: gradients (LIST), flags (LIST), attributes,
 * @n_args of them; @out (transfer full): TUPLE, NONE for gradients that are not needed or
 * undefined. %FALSE: the context is in error: the operator is not in the table or has no rule, or
 * the rule reads a value that the node does not save. */
gboolean adj_node_op_call (
    AdjContext *cx, const AdjNodeOp *self, const AdjValue *args, guint n_args, AdjValue *out);

/* -- what such a node keeps, of the arguments and results of its operator -- */

typedef enum
{
  ADJ_KEPT_ITSELF,  /* the argument or result */
  ADJ_KEPT_AS_SIZE, /* a number that becomes a size, although the operator takes no size there */
  ADJ_KEPT_DTYPE,
  ADJ_KEPT_SIZES,
  ADJ_KEPT_FIRST_SIZE,
  ADJ_KEPT_LAST_SIZE,
  ADJ_KEPT_SECOND_LAST_SIZE,
  ADJ_KEPT_THIRD_LAST_SIZE,
  ADJ_KEPT_STRIDES,
  ADJ_KEPT_OPTIONS,     /* (requires_grad, memory format, device, dtype, layout, pinned) */
  ADJ_KEPT_INFO,        /* (sizes, options) */
  ADJ_KEPT_GEOMETRY,    /* (sizes, strides, offset) */
  ADJ_KEPT_LENGTH,      /* of a list of tensors */
  ADJ_KEPT_ITEM_SIZES,  /* of each tensor of a list */
  ADJ_KEPT_ITEM_DTYPES, /* likewise */
  ADJ_KEPT_LAYOUT,
  ADJ_KEPT_NUMEL,
  ADJ_KEPT_RANK,
  ADJ_KEPT_RETAIN, /* whether the graph is retained for another backward */
  ADJ_N_KEPT,
} AdjKept;

typedef struct
{
  const char *name; /* "self_sym_sizes" */
  gint arg, result; /* index of the argument or result; -1: neither */
  AdjKept what;
} AdjNodeAttribute;

typedef struct
{
  const AdjNodeOp *node_op;
  const char *target; /* the target in graphs */
  guint n_inputs;     /* number of arguments with a gradient, by index */
  guint8 *inputs;
  guint n_attributes;
  AdjNodeAttribute *attributes;
  gint alike; /* an argument that is not saved, whose sizes are those of argument @as; -1: none */
  guint as;
} AdjNodeForm;

/* (nullable): PyTorch's node for @op, or for the operator of which it is a variant; %NULL: it has
 * none, or saves a value that is not understood. */
const AdjNodeForm *adj_node_form_find (const AdjOp *op);

/* All rows, by index. */
guint adj_node_ops_get_n (void);
const AdjNodeOp *adj_node_ops_get (guint index);

G_END_DECLS
