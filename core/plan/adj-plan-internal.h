/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/adj-plan-gpu.h"

G_BEGIN_DECLS

/* Whether a run may draw random numbers. */
gboolean adj_plan_may_draw (const AdjPlan *plan);

/* Plans that are kept with their graph, with their arena, for the next run on inputs alike. */

/* (transfer full) (nullable): one that nobody uses, or a new one; its context is new.  @gpu:
 * (nullable): where it has its memory.  %NULL with the error of adj_plan_new() or
 * adj_plan_space_new_on(), or with @refusal, (out) (transfer full) (nullable), set: why the
 * interpreter has to run all of @graph.  @graph must live until it is given back. */
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

/* (transfer none): the context that kernels run in: its generator, cancellable and error are the
 * run's. */
AdjContext *adj_plan_space_get_context (AdjPlanSpace *space);

G_END_DECLS
