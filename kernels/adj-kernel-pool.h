/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Pooling over the last two dims.  x […, H, W] and y [… , OH, OW] have the same sizes before them.
 * What adj-kernels.h says of kernels holds here too, and: these return false, with the output in
 * an unspecified state, when memory ran out. */
typedef struct
{
  AdjKView x, y;
  bool adaptive; /* windows ⌊i H / OH⌋ … ⌈(i + 1) H / OH⌉ instead of these: */
  int64_t kernel[2], stride[2], padding[2];
  int64_t dilation[2]; /* of maxima */
  bool counts_padding; /* averages divide by the window with its padding */
  int64_t divisor;     /* averages divide by this when it is not 0 */
} AdjKPool;

/* The largest element of each window (NaN wins) into y, and its place h · W + w in the plane into
 * @indices, i64 of the sizes of y. */
bool adj_k_max_pool (const AdjKPool *pool, const AdjKView *indices);

/* Whether all @indices are in 0 … @area - 1; the first that is not into @bad. */
bool adj_k_max_pool_check (const AdjKView *indices, int64_t area, int64_t *bad);

/* gx = 0, then gx[index] += g in row-major order; @indices must be checked. */
bool adj_k_max_pool_backward (const AdjKView *gx, const AdjKView *g, const AdjKView *indices);

/* The average of each window into y. */
bool adj_k_avg_pool (const AdjKPool *pool);

/* y holds the gradient of the averages; writes that of x into x. */
bool adj_k_avg_pool_backward (const AdjKPool *pool);
