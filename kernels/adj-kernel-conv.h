/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Convolutions.  What adj-kernels.h says of kernels holds here too, and: these return false, with
 * the output in an unspecified state, when memory ran out. */

/* x [N, C, in…], w [O, C / groups, kernel…], y [N, O, out…], all of one type, with 1 to 3 spatial
 * dims:
 *   y[n, o, i] = Σ x[n, c, i · stride - padding + k · dilation] · w[o, c, k]
 * over the c of the group of o, then k, in row-major order; outside of it x is 0. */
typedef struct
{
  AdjKView x, w, y;
  const AdjKView *bias; /* (nullable): [channels] added to y or to x; not for weights */
  int64_t stride[3], padding[3], dilation[3];
  int64_t groups;
} AdjKConv;

typedef enum
{
  ADJ_K_CONV_FORWARD, /* adj_k_conv() */
  ADJ_K_CONV_INPUT,
  ADJ_K_CONV_WEIGHT,
} AdjKConvKind;

/* Writes y. */
bool adj_k_conv (const AdjKConv *conv);

/* Writes x, the sum over all y[n, o, i] that it contributes to: the gradient of x when y holds the
 * gradient of y; also a transposed convolution of y. */
bool adj_k_conv_input (const AdjKConv *conv);

/* Writes w: Σ x · y over n and i, in chunks of 1024 positions. */
bool adj_k_conv_weight (const AdjKConv *conv);
