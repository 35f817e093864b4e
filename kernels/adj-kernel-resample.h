/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Resampling of planes to other sizes.  What adj-kernels.h says of kernels holds here too, and:
 * these return false, with the output in an unspecified state, when memory ran out. */

/* x […, H, W] and y […, OH, OW] have the same sizes before the last two, and are floating. */
typedef struct
{
  AdjKView x, y;
  bool bilinear;      /* else the nearest element, its index computed in f32 as PyTorch does */
  bool align_corners; /* of bilinear: the corners of x and y are at the same places */
  double scale[2];    /* how much larger y is; 0: by the sizes */
} AdjKResample;

/* Writes y. */
bool adj_k_resample (const AdjKResample *resample);

/* Writes x, the gradient of x when y holds that of y: summed over y in row-major order. */
bool adj_k_resample_backward (const AdjKResample *resample);
