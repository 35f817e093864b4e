/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* Chooses items whose memory fits a capacity, for the largest value. */

typedef struct
{
  double memory; /* 0… */
  double value;  /* 0… */
} AdjKnapsackItem;

/**
 * AdjKnapsackSolver:
 * @keep: (out caller-allocates): for each item whether it is kept
 *
 * Returns: the value that was reached
 */
typedef double (*AdjKnapsackSolver) (const AdjKnapsackItem *items,
                                     guint n,
                                     double capacity,
                                     guint8 *keep);

/* By value per memory, as long as they fit. */
double adj_knapsack_greedy (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep);
/* PyTorch's table: memory in ten-thousandths, rounded, values added in f32.  Of equal choices the
 * earlier item is kept; items of value 0 are not. */
double adj_knapsack_dp (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep);
/* Branch and bound on exact memory; after a million steps the best solution so far. */
double adj_knapsack_exact (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep);

G_END_DECLS
