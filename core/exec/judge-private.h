/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-comparison.h"

G_BEGIN_DECLS

/* The numbers that judge one tensor. */
typedef struct
{
  AdjTensorData *candidate;
  AdjTensorData *peer;  /* (nullable) */
  AdjTensorData *truth; /* (nullable) */
  AdjTensorData *local; /* (nullable) */
  gboolean own_truth;   /* the truth is our float64 run: the peer did not vouch for it */
  /* L2 norms of what rounding alone does to the value, in the run and in its operator; 0: not
   * known.
   */
  double noise, local_noise;
} Leaf;

/* The tensors of a value, %NULL for its other leaves; borrowed. */
GPtrArray *judge_tensors (const AdjValue *value);
/* (nullable): that at @index; %NULL also where there are fewer. */
AdjTensorData *judge_nth (const GPtrArray *tensors, guint index);

/* Fills the numbers of @out and its verdict; @limit is that of the local error. */
void compare_leaf (const AdjComparisonRequest *request,
                   const Leaf *leaf,
                   double limit,
                   AdjValueComparison *out);

G_END_DECLS
