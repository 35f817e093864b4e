/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/autograd-private.h"
#include "call/adj-higher-order.h"
#include "trace/adj-trace.h"

G_BEGIN_DECLS

/* Shape of the joint functions of a higher-order operator. */
typedef struct
{
  guint n_inputs;  /* of the function */
  gboolean *needs; /* (owned): by input: whether it gets a gradient */
  guint n_tangents;
  guint first_tangent; /* index of the first tangent among inputs and tangents */
  gboolean gives_outputs;
} JointShape;

/* Whether an output of such a function has a tangent. */
gboolean joint_has_tangent (const AdjValue *leaf);
/* (transfer full) (nullable): a graph of the gradients of @body; it returns a LIST of one for each
 * input, then, as @shape says, the outputs. @zeros (nullable): inputs whose undefined gradient
 * becomes zeros. @examples: values (META for tensors) of inputs and tangents. %NULL: the context is
 * in error. */
AdjGraph *joint_body_trace (AdjContext *cx,
                            AdjFunction *body,
                            const JointShape *shape,
                            const gboolean *zeros,
                            const AdjValue *examples);

/* Calls a higher-order operator of which an argument requires a gradient, and records it. */
gboolean higher_record (Autograd *autograd, AdjHigherCall *call);

G_END_DECLS
