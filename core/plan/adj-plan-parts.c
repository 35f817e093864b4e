/* SPDX-License-Identifier: MIT */
/* What a plan consists of, and what its regions cost: bytes and operations. */

#include "plan/adj-plan-parts.h"

#include "plan/plan-private.h"

/* -- costs, while the plan is made -- */

static guint64
bytes_of_view (const AdjKView *view)
{
  guint64 n = adj_k_type_get_size (view->type);

  for (gint i = 0; i < view->rank; i++)
    if (view->stride[i] != 0)
      n *= (guint64) view->size[i];
  return n;
}

static guint64
bytes_of_fused (const PlanFused *fused)
{
  guint64 bytes = 0;

  for (guint i = 0; i < fused->n_operands; i++)
    bytes += bytes_of_view (&fused->operands[i]);
  return bytes;
}

static guint64
bytes_of_call (const AdjPlan *plan, const PlanCall *call)
{
  guint64 bytes = 0;

  for (guint i = 0; i < call->n_reads; i++)
    bytes += adj_tensor_meta_bytes (&plan_value (plan, call->reads[i])->meta, NULL);
  for (guint i = 0; i < call->n_writes; i++)
    bytes += adj_tensor_meta_bytes (&plan_value (plan, call->writes[i])->meta, NULL);
  return bytes;
}

static void
count_region (const AdjPlan *plan, PlanRegion *region)
{
  region->nodes = g_new (AdjNodeId, region->n_calls);
  for (guint i = 0; i < region->n_calls; i++)
    {
      const PlanCall *call = plan_call (plan, region->calls[i]);

      region->flops += call->flops;
      if (region->fused == NULL)
        region->bytes += bytes_of_call (plan, call);
      if (region->n_nodes == 0 || region->nodes[region->n_nodes - 1].index != call->node)
        region->nodes[region->n_nodes++].index = call->node;
    }
  if (region->fused != NULL)
    region->bytes = bytes_of_fused (region->fused);
}

void
plan_count_costs (AdjPlan *plan)
{
  for (guint32 i = 0; i < plan->regions->len; i++)
    count_region (plan, plan_region (plan, i));
}

/* -- parts -- */

void
adj_plan_get_region (const AdjPlan *plan, guint index, AdjPlanRegion *out)
{
  const PlanRegion *region;

  g_return_if_fail (plan != NULL && index < plan->regions->len && out != NULL);

  region = plan_region (plan, index);
  *out = (AdjPlanRegion){ .kind = region->kind->name,
                          .n_nodes = region->n_nodes,
                          .nodes = region->nodes,
                          .reason = region->reason,
                          .bytes = region->bytes,
                          .flops = region->flops };
}

guint
adj_plan_get_n_buffers (const AdjPlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);

  return plan->buffers->len;
}

void
adj_plan_get_buffer (const AdjPlan *plan, guint index, AdjPlanBuffer *out)
{
  static const char *const memories[PLAN_N_MEMORIES] = {
    [PLAN_MEMORY_ARENA] = "arena",
    [PLAN_MEMORY_INPUT] = "input",
    [PLAN_MEMORY_CONSTANT] = "constant",
    [PLAN_MEMORY_OUTPUT] = "output",
  };
  const PlanBuffer *buffer;

  g_return_if_fail (plan != NULL && index < plan->buffers->len && out != NULL);

  buffer = plan_buffer (plan, index);
  *out = (AdjPlanBuffer){ .node = { buffer->node },
                          .memory = memories[buffer->memory],
                          .bytes = buffer->n_bytes,
                          .offset = buffer->offset,
                          .first = buffer->first,
                          .last = buffer->last,
                          .taken_over = buffer->taken_over };
  if (buffer->memory == PLAN_MEMORY_ARENA && buffer->first == PLAN_NONE)
    out->memory = "register";
}
