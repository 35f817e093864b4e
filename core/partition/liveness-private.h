/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/plan-private.h"

G_BEGIN_DECLS

/* Fills forward, backward and their peak for a complete @plan; @timeline: with steps. */
void liveness_measure (const Plan *plan, gboolean timeline, AdjPartitionCost *cost);

/* A lower bound for the peak of every plan, in bytes: the larger of forward's peak when nothing is
 * saved and of backward's when only nodes that depend on tangents take memory. */
guint64 liveness_bound (const Joint *joint);

/* Bytes that both graphs read and write when fusible calls are one kernel. */
guint64 cost_fused_traffic (const Plan *plan);

/* Fills all of @cost for a complete plan; @timeline: the steps of both graphs, too. */
void cost_of_plan (const Plan *plan, gboolean timeline, AdjPartitionCost *cost);

G_END_DECLS
