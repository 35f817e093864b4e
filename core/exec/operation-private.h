/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/deviation-private.h"
#include "exec/written-private.h"
#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* One node, to be computed again in float64 on what somebody fed it. */
typedef struct
{
  const AdjNode *node;
  const AdjValue *values; /* of every node, as it came out; NONE: not known */
  const Written *written; /* by the nodes before */
} Operation;

/* What the node gives in float64, and in @rounding what rounding may do to it; none where an input
 * is not known (any more), and for random numbers, which are not those that were drawn.
 * (transfer full) */
AdjValue operation_compute (const Operation *operation, NodeRounding *rounding);

/* What it gives in the types that the graph has.  (transfer full) */
AdjValue operation_repeat (const Operation *operation);

/* The terms of result @item, which is @exact: of sums and products by the operator on absolute
 * values, of what is computed element by element by how each argument moves it, of the rest by how
 * a rounding of all arguments, and of what is computed on the way, does. */
void operation_weigh (const Operation *operation,
                      const NodeRounding *rounding,
                      const AdjTensorData *exact,
                      guint item,
                      Terms *terms);

G_END_DECLS
