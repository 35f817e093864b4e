/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Batch norm on the CPU, channel by channel (dim 1 of x), without copying x.  The bits are those of
 * adj_k_var_mean(), adj_k_reduce() and adj_k_pointwise() one after the other, of which core/ops
 * composes it for devices. */

/* Whether the elements of a channel are in runs that are long enough for these functions. */
bool adj_k_channel_norm_fits (const AdjKView *x);

typedef struct
{
  AdjKView x, y;
  AdjKView mean, rstd; /* by channel, as all views below */
  AdjKView w, b;       /* without data: weights 1 and biases 0 */
} AdjKChannelNorm;

/* Writes @mean and @var, by channel; the variance is without correction. */
bool adj_k_channel_norm_measure (const AdjKView *x, const AdjKView *mean, const AdjKView *var);
/* y = (x - mean) rstd w + b */
void adj_k_channel_norm_write (const AdjKChannelNorm *norm);

typedef struct
{
  AdjKView x, g;
  AdjKView mean, rstd, w;
  const AdjKView *gx, *gw, *gb; /* (nullable) each */
} AdjKChannelNormBackward;

/* With h = g w and x̂ = (x - mean) rstd: gx = (h - (x̂ mean (h x̂) + mean h)) rstd, gw = Σ x̂ g,
 * gb = Σ g.  false, as above: there is no memory for the sums. */
bool adj_k_channel_norm_backward (const AdjKChannelNormBackward *norm);
