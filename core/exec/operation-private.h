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
  const AdjValue *values;        /* of every node, before later writes; NONE: unknown */
  const AliasVersions *versions; /* by the nodes before */
  const char *release;           /* (nullable): as in AdjRunRequest */
  AdjRandomSource random_source;
  AdjDType drawn; /* in which it draws random numbers; ADJ_DTYPE_NONE: in the default one */
  GBytes *state;  /* (nullable): what it draws from, an AdjDrawState */
} Operation;

/* Computes the node in float64. @rounding: its rounding. NONE where an input is unknown, or
 * overwritten, and for random numbers that are drawn from an unknown state. (transfer full) */
AdjValue operation_compute (const Operation *operation, NodeRounding *rounding);

/* Computes the node in the dtypes of the graph. (transfer full) */
AdjValue operation_repeat (const Operation *operation);

/* Whether the node gives something else where memory that nobody wrote, which @unset has of each
 * node, holds something else. */
gboolean operation_reads_unset (const Operation *operation, const gboolean *unset);

/* The terms of result @item, which is @exact: of sums and products by the operator on absolute
 * values, of what is computed element by element by how each argument moves it, of the rest by how
 * a rounding of all arguments, and of what is computed on the way, does. */
void operation_estimate_condition (const Operation *operation,
                                   const NodeRounding *rounding,
                                   const AdjTensorData *exact,
                                   guint item,
                                   Terms *terms);

G_END_DECLS
