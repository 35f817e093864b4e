/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"
#include "exec/operation-private.h"

G_BEGIN_DECLS

/* One side's value of a node, and the exact one. */
typedef struct
{
  AdjTensorData *value;       /* (nullable) */
  AdjTensorData *exact;       /* (nullable): what its operator gives in float64 */
  const Operation *operation; /* (nullable): that gave it */
} Side;

/* What the verdict on one tensor goes by. */
typedef struct
{
  Side own, peer;
  guint item;             /* which result of the operator */
  NodeRounding rounding;  /* of the operator */
  AdjDType coarsest;      /* the coarsest of the dtypes of the computations it depends on */
  gboolean inputs_differ; /* its inputs differ already */
  AdjTensorData *truth;   /* (nullable): of the float64 run of the graph */
  gboolean own_truth;     /* that is ours: the peer did not vouch for it */
  AdjTensorData *unmoved; /* (nullable): of our float64 run, where rounding was looked at */
  AdjTensorData *moved;   /* (nullable): and when all is moved by less than a rounding */
} Leaf;

/* The tensors of a value, %NULL for its other leaves; borrowed. */
GPtrArray *list_tensors (const AdjValue *value);
/* (nullable): that at @index; %NULL also where there are fewer. */
AdjTensorData *nth_tensor (const GPtrArray *tensors, guint index);

/* Fills the numbers of @out and its verdict. */
void compare_leaf (const AdjComparisonRequest *request, const Leaf *leaf, AdjValueComparison *out);

G_END_DECLS
