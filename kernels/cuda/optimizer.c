/* SPDX-License-Identifier: MIT */
/* Launches steps of optimisers. */

#include "launch.h"

void
adj_k_cuda_adam (AdjKQueue *queue, const AdjKAdam *adam)
{
  AdamArgs args = { .p = adam->p,
                    .g = adam->g,
                    .m = adam->m,
                    .v = adam->v,
                    .beta1 = adam->beta1,
                    .beta2 = adam->beta2,
                    .weight_decay = adam->weight_decay,
                    .eps = adam->eps,
                    .lr = adam->lr,
                    .step = adam->step,
                    .grad_scale = adam->grad_scale,
                    .found = adam->found,
                    .n = adj_k_view_count (&adam->p),
                    .decoupled = adam->decoupled,
                    .maximize = adam->maximize };

  if (adam->v_max)
    args.v_max = *adam->v_max;
  RUN (queue, "adj_adam", args.n, args);
}

void
adj_k_cuda_sgd (AdjKQueue *queue, const AdjKSgd *sgd)
{
  SgdArgs args = { .p = sgd->p,
                   .g = sgd->g,
                   .momentum = sgd->momentum,
                   .dampening = sgd->dampening,
                   .weight_decay = sgd->weight_decay,
                   .lr = sgd->lr,
                   .grad_scale = sgd->grad_scale,
                   .found = sgd->found,
                   .n = adj_k_view_count (&sgd->p),
                   .nesterov = sgd->nesterov,
                   .maximize = sgd->maximize,
                   .is_first = sgd->is_first };

  if (sgd->momentum_buffer)
    args.m = *sgd->momentum_buffer;
  RUN (queue, "adj_sgd", args.n, args);
}

void
adj_k_cuda_unscale (AdjKQueue *queue,
                    const AdjKView *x,
                    const AdjKNumber *factor,
                    const AdjKView *found)
{
  UnscaleArgs args = { .x = *x, .found = *found, .factor = *factor, .n = adj_k_view_count (x) };

  RUN (queue, "adj_unscale", args.n, args);
}
