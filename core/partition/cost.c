/* SPDX-License-Identifier: MIT */
/* The cost of a plan: bytes saved, operations repeated and memory traffic. */

#include "partition/liveness-private.h"
#include "partition/runtime-private.h"

static guint64
traffic_of (const Joint *joint, guint i)
{
  guint64 bytes;

  /* Views move nothing. */
  if (joint->owner[i] != i || (joint->traits[i] & (OP_VIEW | OP_GETITEM)) != 0)
    return 0;
  bytes = joint->bytes[i];
  for (guint32 k = joint->inputs.begin[i]; k < joint->inputs.begin[i + 1]; k++)
    bytes += joint->bytes[joint->inputs.items[k]];
  return bytes;
}

void
cost_of_plan (const Plan *plan, gboolean timeline, AdjPartitionCost *cost)
{
  const Joint *joint = plan->joint;

  *cost = (AdjPartitionCost){ 0 };
  liveness_measure (plan, timeline, cost);
  if (timeline)
    cost->fused_traffic = cost_fused_traffic (plan);
  for (guint i = 0; i < joint->n; i++)
    {
      double flops = plan->in_forward[i] ? runtime_flops (joint, i, FALSE) : 0;

      cost->forward_flops += flops;
      if (!plan->in_forward[i] || !plan->in_backward[i])
        continue;
      cost->n_recomputed++;
      cost->recompute_flops += flops;
      cost->recompute_traffic += traffic_of (joint, i);
      cost->recompute_time += runtime_of (joint, i, plan->options);
    }
}

void
adj_partition_cost_clear (AdjPartitionCost *cost)
{
  g_clear_pointer (&cost->forward.steps, g_free);
  g_clear_pointer (&cost->backward.steps, g_free);
}
