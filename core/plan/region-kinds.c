/* SPDX-License-Identifier: MIT */
/* How each kind of region runs; other kernels are added here. */

#include <string.h>

#include "adj-kernel-backend.h"

#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "plan/compiled-private.h"
#include "plan/space-private.h"

/* -- one call of an operator's kernel -- */

static gboolean
run_call (AdjPlanSpace *space, guint32 index)
{
  gboolean done;

  plan_space_enter_call (space, index);
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
  plan_space_enter_call (space, region->calls[0]);
  adj_context_fail (space->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "an integer is divided by zero here or in what is fused with it");
  return FALSE;
}

/* (nullable) */
static AdjKFusedMade
find_made (const AdjPlanSpace *space, const PlanRegion *region)
{
  PlanCompiled *compiled =
      space->gpu == NULL ? g_atomic_pointer_get (&space->plan->compiled) : NULL;

  return compiled != NULL
             ? plan_compiled_get (compiled, (guint32) (region - plan_region (space->plan, 0)))
             : NULL;
}

static gboolean
run_fused (AdjPlanSpace *space, const PlanRegion *region)
{
  const PlanFused *fused = region->fused;
  const gint64 *stride = fused->extents + fused->rank;
  gsize of_rank = (gsize) fused->rank * sizeof *stride;
  AdjKView operands[ADJ_K_MAX_OPERANDS];
  AdjKFusedMade made = find_made (space, region);
  gboolean done;

  for (guint i = 0; i < fused->n_operands; i++, stride += fused->rank)
    {
      const PlanOperand *place = &fused->places[i];

      operands[i].data = (char *) space->bytes[place->buffer] + place->offset;
      operands[i].type = place->type;
      operands[i].rank = fused->rank;
      memcpy (operands[i].size, fused->extents, of_rank);
      memcpy (operands[i].stride, stride, of_rank);
    }
  done = made != NULL ? adj_k_fused_run_made (&fused->program, made, operands)
                      : adj_q_fused (adj_context_get_queue (space->cx), &fused->program, operands);
  return done || fail_division (space, region);
}

const PlanRegionKind plan_region_fused = { "fused", run_fused };
