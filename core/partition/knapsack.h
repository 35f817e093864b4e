/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* Which items to keep so that their memory fits and their value is largest. */

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

/* In the order of value for memory, what still fits. */
double adj_knapsack_greedy (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep);
/* PyTorch's table: memory in ten-thousandths, rounded, values added in f32.  Where keeping an
 * earlier or a later item is worth the same, the earlier one stays; nothing worth 0 does. */
double adj_knapsack_dp (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep);
/* Branch and bound on the memory as it is; after a million steps the best that it has seen. */
double adj_knapsack_exact (const AdjKnapsackItem *items, guint n, double capacity, guint8 *keep);

G_END_DECLS
