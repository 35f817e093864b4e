/* SPDX-License-Identifier: MIT */
/* Launches steps of optimisers. */

#include <math.h>

#include "launch.h"

void
adj_k_cuda_adam (AdjKQueue *queue, const AdjKAdam *adam)
{
  AdamArgs args = { .p = adam->p,
                    .g = adam->g,
                    .m = adam->m,
                    .v = adam->v,
                    .lr = adam->lr,
                    .beta1 = adam->beta1,
                    .beta2 = adam->beta2,
                    .weight_decay = adam->weight_decay,
                    .eps = adam->eps,
                    .grad_scale = adam->grad_scale,
                    .step_size = adam->lr / (1 - pow (adam->beta1, adam->step)),
                    .root = sqrt (1 - pow (adam->beta2, adam->step)),
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
                   .lr = sgd->lr,
                   .momentum = sgd->momentum,
                   .dampening = sgd->dampening,
                   .weight_decay = sgd->weight_decay,
                   .grad_scale = sgd->grad_scale,
                   .n = adj_k_view_count (&sgd->p),
                   .nesterov = sgd->nesterov,
                   .maximize = sgd->maximize,
                   .is_first = sgd->is_first };

  if (sgd->momentum_buffer)
    args.m = *sgd->momentum_buffer;
  RUN (queue, "adj_sgd", args.n, args);
}

void
adj_k_cuda_unscale (AdjKQueue *queue, const AdjKView *x, double factor, const AdjKView *found)
{
  UnscaleArgs args = { .x = *x, .found = *found, .factor = factor, .n = adj_k_view_count (x) };

  RUN (queue, "adj_unscale", args.n, args);
}
