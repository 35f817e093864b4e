/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "exec/operation-private.h"

G_BEGIN_DECLS

/* One side's value of a node, and what it should be. */
typedef struct
{
  AdjTensorData *value;       /* (nullable) */
  AdjTensorData *exact;       /* (nullable): what its operator gives in float64 */
  const Operation *operation; /* (nullable): that gave it */
} Side;

/* What there is to judge one tensor by. */
typedef struct
{
  Side own, peer;
  guint item;             /* which result of the operator */
  NodeRounding rounding;  /* of the operator */
  AdjDType coarsest;      /* of the types with which what it comes from was computed */
  gboolean inputs_differ; /* what it was computed from differs already */
  AdjTensorData *truth;   /* (nullable): of the float64 run of the graph */
  gboolean own_truth;     /* that is ours: the peer did not vouch for it */
  double noise;           /* L2 norm of what rounding alone does to the run; 0: not known */
} Leaf;

/* The tensors of a value, %NULL for its other leaves; borrowed. */
GPtrArray *judge_tensors (const AdjValue *value);
/* (nullable): that at @index; %NULL also where there are fewer. */
AdjTensorData *judge_nth (const GPtrArray *tensors, guint index);

/* Fills the numbers of @out and its verdict. */
void compare_leaf (const AdjComparisonRequest *request, const Leaf *leaf, AdjValueComparison *out);

G_END_DECLS
