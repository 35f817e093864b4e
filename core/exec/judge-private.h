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
} Leaf;

/* Fills the numbers of @out and its verdict; @limit is that of the local error. */
void compare_leaf (const AdjComparisonRequest *request,
                   const Leaf *leaf,
                   double limit,
                   AdjValueComparison *out);

G_END_DECLS
