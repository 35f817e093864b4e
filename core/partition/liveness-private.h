/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/plan-private.h"

G_BEGIN_DECLS

/* Fills forward, backward and their peak for a complete @plan; @timeline: with steps. */
void liveness_measure (const Plan *plan, gboolean timeline, AdjPartitionCost *cost);

/* What is alive at the worst moment of forward when nothing is saved, and of backward when all that
 * does not depend on a tangent were free: no plan has less. */
guint64 liveness_bound (const Joint *joint);

/* Bytes that both graphs read and write when fusible calls are one kernel. */
guint64 cost_fused_traffic (const Plan *plan);

/* Everything that AdjPartitionCost says of a complete plan. */
void cost_of_plan (const Plan *plan, gboolean timeline, AdjPartitionCost *cost);

G_END_DECLS
