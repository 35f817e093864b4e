/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/adj-plan-gpu.h"

G_BEGIN_DECLS

/* Whether a run may draw random numbers. */
gboolean adj_plan_may_draw (const AdjPlan *plan);

/* Spaces that are kept with their graph and reused by later runs on inputs of the same kind. */

/* (transfer full) (nullable): a kept space that is not in use, or a new one; its context is new.
 * @gpu: (nullable): the device of its memory.  %NULL with the error of adj_plan_new() or
 * adj_plan_space_new_on(), or with @refusal, (out) (transfer full) (nullable), set: why the
 * interpreter has to run all of @graph.  @graph must outlive the use of the space. */
AdjPlanSpace *adj_plan_space_take (AdjGraph *graph,
                                   const AdjValue *inputs,
                                   guint n_inputs,
                                   AdjPlanFlags flags,
                                   AdjGpu *gpu,
                                   char **refusal,
                                   GError **error);
void adj_plan_space_give (AdjPlanSpace *space); /* @space: (transfer full) */
/* (transfer none) */
AdjPlan *adj_plan_space_get_plan (AdjPlanSpace *space);

/* (transfer none): the context that kernels run in: generator, cancellable and error belong to the
 * run. */
AdjContext *adj_plan_space_get_context (AdjPlanSpace *space);

/* As adj_plan_get_peak_bytes(), of the last run: inputs that are read from a file count while they
 * were in memory. */
guint64 adj_plan_space_get_peak_bytes (const AdjPlanSpace *space);

G_END_DECLS
