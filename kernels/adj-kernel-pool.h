/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Pooling over the last three dims: x […, D, H, W] and y […, OD, OH, OW] have the same sizes before
 * them; an image has a depth of 1.  What adj-kernels.h says of kernels holds here too, and: these
 * return false, with the output in an unspecified state, when memory ran out. */
typedef struct
{
  AdjKView x, y;
  bool adaptive; /* windows ⌊i H / OH⌋ … ⌈(i + 1) H / OH⌉; kernel, stride and padding are ignored */
  int64_t kernel[3], stride[3], padding[3];
  int64_t dilation[3]; /* for maxima only */
  bool counts_padding; /* averages divide by the window with its padding */
  int64_t divisor;     /* averages divide by this when it is not 0 */
} AdjKPool;

/* The largest element of each window (NaN wins) into y, and its place (d · H + h) · W + w in the
 * volume into @indices, i64 of the sizes of y. */
bool adj_k_max_pool (const AdjKPool *pool, const AdjKView *indices);

/* Whether all @indices are in 0 … @n - 1; the first that is not into @bad. */
bool adj_k_pool_check (const AdjKView *indices, int64_t n, int64_t *bad);

/* x = 0, then x[index] += y, or = y where @last, in row-major order; @indices must be checked. */
bool adj_k_unpool (const AdjKView *x, const AdjKView *y, const AdjKView *indices, bool last);

/* The average of each window into y. */
bool adj_k_avg_pool (const AdjKPool *pool);

/* y holds the gradient of the averages; writes that of x into x. */
bool adj_k_avg_pool_backward (const AdjKPool *pool);
