/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Steps of optimisers.  All views of one step have the same sizes; values are read, computed in f64
 * and stored once. */

/* A number that may be in device memory. */
typedef struct
{
  double value;
  AdjKView at; /* with data: its only element is the number, and @value is ignored */
} AdjKNumber;

/* The number; for host memory only. */
double adj_k_number (const AdjKNumber *number);

typedef struct
{
  AdjKView p, m, v; /* parameter and moments: written */
  AdjKView g;       /* gradient; written when it is unscaled */
  AdjKView *v_max;  /* (nullable): the largest v so far */
  double beta1, beta2, weight_decay, eps;
  AdjKNumber lr;
  AdjKNumber step;       /* the number of this step, from 1 */
  AdjKNumber grad_scale; /* g is divided by it first; 0: no scaling */
  AdjKNumber found;      /* 1: a gradient is not finite, and the step does nothing */
  bool decoupled;        /* weight decay acts on p, not on g */
  bool maximize;
} AdjKAdam;

void adj_k_adam (const AdjKAdam *adam);

typedef struct
{
  AdjKView p, g;
  AdjKView *momentum_buffer; /* (nullable) */
  double momentum, dampening, weight_decay;
  AdjKNumber lr, grad_scale, found; /* as those of Adam */
  bool nesterov, maximize;
  bool is_first; /* the buffer has no content yet */
} AdjKSgd;

void adj_k_sgd (const AdjKSgd *sgd);

/* x *= factor; @found, one f32, becomes 1 when an element was not finite, else it stays. */
void adj_k_unscale (const AdjKView *x, const AdjKNumber *factor, const AdjKView *found);
