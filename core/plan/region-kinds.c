/* SPDX-License-Identifier: MIT */
/* How each kind of region runs: the seam at which other kernels come in. */

#include <string.h>

#include "adj-kernel-backend.h"

#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "plan/space-private.h"

/* -- one call of an operator's kernel -- */

static gboolean
run_call (AdjPlanSpace *space, guint32 index)
{
  const PlanCall *call = plan_call (space->plan, index);
  gboolean done;

  plan_space_enter (space, call->node);
  adj_scope_begin (space->cx);
  done = adj_op_call_run_kernel (&space->calls[index]);
  adj_scope_end (space->cx);
  return done && !adj_context_has_error (space->cx);
}

static gboolean
run_operator (AdjPlanSpace *space, const PlanRegion *region)
{
  for (guint i = 0; i < region->n_calls; i++)
    if (!run_call (space, region->calls[i]))
      return FALSE;
  return TRUE;
}

const PlanRegionKind plan_region_operator = { "operator", run_operator };

/* -- fused pointwise calls -- */

static gboolean
fail_division (AdjPlanSpace *space, const PlanRegion *region)
{
  plan_space_enter (space, plan_call (space->plan, region->calls[0])->node);
  adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "an integer is divided by zero here or in what is fused with it");
  return FALSE;
}

static gboolean
run_fused (AdjPlanSpace *space, const PlanRegion *region)
{
  const PlanFused *fused = region->fused;
  AdjKView operands[ADJ_K_MAX_OPERANDS];

  memcpy (operands, fused->operands, fused->n_operands * sizeof operands[0]);
  for (guint i = 0; i < fused->n_operands; i++)
    operands[i].data = (char *) space->bytes[fused->buffers[i]] + fused->offsets[i];
  return adj_q_fused (adj_context_get_queue (space->cx), &fused->program, operands) ||
         fail_division (space, region);
}

const PlanRegionKind plan_region_fused = { "fused", run_fused };
