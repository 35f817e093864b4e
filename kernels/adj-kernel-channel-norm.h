/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Batch norm on the host alone, channel by channel, which is dim 1 of x: each pass reads x where it
 * lies.  The bits are those of adj_k_var_mean(), adj_k_reduce() and adj_k_pointwise() one after the
 * other, as core/ops makes it of them for devices. */

/* Whether the elements of a channel lie in runs that are long enough. */
bool adj_k_channel_norm_fits (const AdjKView *x);

typedef struct
{
  AdjKView x, y;
  AdjKView mean, rstd; /* by channel, as all that follow */
  AdjKView w, b;       /* without data: 1 and 0 */
} AdjKChannelNorm;

/* @mean and @var, by channel; the variance is that of the elements. */
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
