/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/alias-versions-private.h"
#include "exec/deviation-private.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A node to be computed again in float64 on the inputs that it had. */
typedef struct
{
  const AdjNode *node;
  const AdjValue *values;        /* values of every node before later writes; NONE: unknown */
  const AliasVersions *versions; /* after the nodes before this one */
  const char *release;           /* (nullable): as in AdjRunRequest */
  AdjRandomSource random_source;
  AdjDType drawn;    /* dtype in which it draws random numbers; ADJ_DTYPE_NONE: the default dtype */
  GBytes *state;     /* (nullable): the AdjDrawState that it draws from */
  gboolean recorded; /* PyTorch computed it */
} Operation;

/* Computes the node in float64.  @rounding: its rounding.  NONE where an input is unknown or
 * overwritten, and for random numbers from an unknown state. (transfer full) */
AdjValue operation_compute (const Operation *operation, NodeRounding *rounding);

/* Computes the node in the dtypes of the graph. (transfer full) */
AdjValue operation_repeat (const Operation *operation);

/* Whether the result depends on uninitialised memory; @unset: per node, whether its value is such
 * memory. */
gboolean operation_reads_unset (const Operation *operation, const gboolean *unset);

/* Sets the terms of result @item, which is @exact.  For sums and products they come from the
 * operator on absolute values, for elementwise operators from perturbing each argument, for others
 * from perturbing all arguments and intermediate results by a rounding.  @type: of the results that
 * are judged; elements that overflow in it count for nothing. */
void operation_estimate_condition (const Operation *operation,
                                   const NodeRounding *rounding,
                                   const AdjTensorData *exact,
                                   AdjDType type,
                                   guint item,
                                   Terms *terms);

G_END_DECLS
