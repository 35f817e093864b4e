/* SPDX-License-Identifier: MIT */
/* Random numbers of a space on a GPU: while regions draw there, the generator state is on the
 * device; before the host draws, it is copied back. */

#include "call/adj-context-internal.h"
#include "call/adj-generator-internal.h"
#include "plan/gpu-space-private.h"

static gboolean
draws (const AdjPlan *plan, const PlanRegion *region)
{
  for (guint i = 0; i < region->n_calls; i++)
    {
      const PlanCall *call = plan_call (plan, region->calls[i]);

      if (call->op != NULL && (call->op->flags & ADJ_OP_RANDOM) != 0)
        return TRUE;
    }
  return FALSE;
}

gboolean
plan_gpu_make_random (PlanGpu *self, const AdjPlan *plan, GError **error)
{
  AdjGpuRuntime *runtime = adj_gpu_get_runtime (self->gpu);
  gboolean any = FALSE;

  for (guint32 i = 0; i < plan->regions->len; i++)
    any = any || draws (plan, plan_region (plan, i));
  if (!any)
    return TRUE;
  self->pinned = runtime->type->alloc_pinned (runtime, sizeof *self->pinned, error);
  if (self->pinned != NULL)
    self->random = runtime->type->alloc (runtime, sizeof *self->random, error);
  if (self->random == NULL)
    return FALSE;
  adj_gpu_queue_get_kernels (self->queue)->twister = &self->random->twister;
  adj_gpu_queue_get_kernels (self->queue)->philox = &self->random->philox;
  return TRUE;
}

void
plan_gpu_free_random (PlanGpu *self)
{
  AdjGpuRuntime *runtime = adj_gpu_get_runtime (self->gpu);

  if (self->random != NULL)
    runtime->type->release (runtime, self->random);
  if (self->pinned != NULL)
    runtime->type->release_pinned (runtime, self->pinned);
}

/* Copies the state in either direction. */
static gboolean
copy (PlanGpu *self, AdjGpuCopy direction, GError **error)
{
  AdjGpuRuntime *runtime = adj_gpu_get_runtime (self->gpu);
  gboolean there = direction == ADJ_GPU_TO_DEVICE;

  return runtime->type->copy (
      runtime, adj_gpu_queue_get_stream (self->queue), there ? self->random : self->pinned,
      there ? self->pinned : self->random, sizeof *self->random, direction, error);
}

static AdjKTwister *
twister_of (AdjPlanSpace *space)
{
  return adj_generator_get_twister (adj_context_get_generator (space->cx));
}

static gboolean
draws_there (AdjPlanSpace *space)
{
  const AdjPlan *plan = space->plan;

  for (guint32 i = 0; i < plan->regions->len; i++)
    if (space->gpu->regions[i].on_cpu == NULL && draws (plan, plan_region (plan, i)))
      return TRUE;
  return FALSE;
}

gboolean
plan_gpu_send_random (AdjPlanSpace *space, GError **error)
{
  PlanGpu *self = space->gpu;
  AdjPhilox philox = adj_context_get_philox (space->cx);

  if (self->random == NULL || !draws_there (space))
    return TRUE;
  self->pinned->twister = *twister_of (space);
  self->pinned->philox = (AdjKPhilox){ philox.seed, philox.offset };
  self->draws_there = copy (self, ADJ_GPU_TO_DEVICE, error);
  return self->draws_there;
}

gboolean
plan_gpu_fetch_random (AdjPlanSpace *space, GError **error)
{
  PlanGpu *self = space->gpu;
  AdjGpuRuntime *runtime = adj_gpu_get_runtime (self->gpu);

  if (!self->draws_there)
    return TRUE;
  self->draws_there = FALSE;
  if (!copy (self, ADJ_GPU_TO_HOST, error) ||
      !runtime->type->stream_wait (runtime, adj_gpu_queue_get_stream (self->queue), error))
    return FALSE;
  *twister_of (space) = self->pinned->twister;
  adj_context_set_philox (space->cx,
                          (AdjPhilox){ self->pinned->philox.seed, self->pinned->philox.offset });
  return TRUE;
}
