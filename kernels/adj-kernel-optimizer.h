/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Steps of optimisers.  All views of one step have the same sizes; values are read, computed in f64
 * and stored once. */

typedef struct
{
  AdjKView p, m, v; /* parameter and moments: written */
  AdjKView g;       /* gradient; written when it is unscaled */
  AdjKView *v_max;  /* (nullable): the largest v so far */
  double lr, beta1, beta2, weight_decay, eps;
  double step;       /* the number of this step, from 1 */
  double grad_scale; /* g is divided by it first; 0: it is not scaled */
  bool decoupled;    /* weight decay acts on p, not on g */
  bool maximize;
} AdjKAdam;

void adj_k_adam (const AdjKAdam *adam);

typedef struct
{
  AdjKView p, g;
  AdjKView *momentum_buffer; /* (nullable) */
  double lr, momentum, dampening, weight_decay;
  double grad_scale;
  bool nesterov, maximize;
  bool is_first; /* the buffer holds nothing yet */
} AdjKSgd;

void adj_k_sgd (const AdjKSgd *sgd);

/* x *= @factor; @found, one f32, becomes 1 when an element was not finite, else it stays. */
void adj_k_unscale (const AdjKView *x, double factor, const AdjKView *found);
