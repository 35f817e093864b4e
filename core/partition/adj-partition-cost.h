/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The predicted cost of a partition (partition/SPEC.md §5.2), from sizes and order only. */

/* Memory while one node runs. */
typedef struct
{
  AdjNodeId node; /* of the joint graph */
  guint64 bytes;  /* bytes alive right after its result was allocated */
} AdjMemoryStep;

/* Memory of one graph by liveness: a storage lives from the node that makes it to its last reader,
 * an output to the end. Views take no memory. Primals are not counted; other inputs of backward
 * are, until their last reader. */
typedef struct
{
  guint n_steps;
  AdjMemoryStep *steps; /* (owned): the calls, in order */
  guint64 start;        /* bytes alive before the first */
  guint64 peak;
  guint peak_at; /* step of the peak; n_steps when it is at the start */
} AdjMemoryTimeline;

typedef struct
{
  AdjMemoryTimeline forward, backward;
  guint64 peak;       /* the higher of both */
  guint64 peak_bound; /* a lower bound of the peak for plans that compute each node at most once per
                         graph */
  gboolean is_optimal;       /* every plan was tried, and none is better for this request */
  guint n_plans;             /* number of plans evaluated */
  double forward_flops;      /* flops of matrix products, convolutions and attention in forward */
  double recompute_flops;    /* flops of those that backward repeats */
  guint64 recompute_traffic; /* bytes that repeated calls read and write */
  guint64 fused_traffic;     /* bytes that both graphs move if fusible calls are one kernel; 0: not
                                computed (as in the search for better plans) */
  double recompute_time;     /* of repeated calls, in the unit of the options' runtime estimate */
  guint n_recomputed;
} AdjPartitionCost;

/* Frees the arrays of @cost, not @cost itself. */
ADJ_PUBLIC void adj_partition_cost_clear (AdjPartitionCost *cost);

G_END_DECLS
