/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* What a partition costs (partition/SPEC.md §5.2), predicted from sizes and order alone. */

/* While one node runs. */
typedef struct
{
  AdjNodeId node; /* of the joint graph */
  guint64 bytes;  /* alive right after its result was allocated */
} AdjMemoryStep;

/* Memory of one graph by liveness: a storage lives from the node that makes it to its last reader,
 * an output to the end. Views take no memory. Primals are not counted; what backward receives is,
 * until its last reader. */
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
  guint64 peak;              /* the higher of both */
  guint64 peak_bound;        /* no plan has less that computes each node once in each graph */
  gboolean is_optimal;       /* every plan was tried: under the demands none is better */
  guint n_plans;             /* that were looked at */
  double forward_flops;      /* of matrix products, convolutions and attention in forward */
  double recompute_flops;    /* of those that backward repeats */
  guint64 recompute_traffic; /* bytes that repeated calls read and write */
  guint64 fused_traffic; /* bytes that both graphs move when what fuses is one kernel; 0: not asked
                            for (the search for better plans does not) */
  double recompute_time; /* of repeated calls, in the unit of the options' runtime estimate */
  guint n_recomputed;
} AdjPartitionCost;

/* Frees the arrays of @cost, not @cost itself. */
ADJ_PUBLIC void adj_partition_cost_clear (AdjPartitionCost *cost);

G_END_DECLS
