/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Resampling of volumes to other sizes, one axis after the other.  What adj-kernels.h says of
 * kernels holds here too, and: these return false, with the output in an unspecified state, when
 * memory ran out. */

/* How an element of y is computed from those of x along an axis. */
typedef enum
{
  ADJ_K_RESAMPLE_NEAREST,       /* ⌊i · ratio⌋, in f32 as PyTorch does */
  ADJ_K_RESAMPLE_NEAREST_EXACT, /* ⌊(i + ½) · ratio⌋ */
  ADJ_K_RESAMPLE_LINEAR,        /* from the two neighbours */
  ADJ_K_RESAMPLE_CUBIC,         /* from the four neighbours */
  ADJ_K_RESAMPLE_N
} AdjKResampleMode;

/* How the coordinates of y's elements in x are computed; variants show how much y depends on their
 * rounding. */
typedef struct
{
  bool narrow;            /* in f32 */
  bool fused;             /* a product and the subtraction from it are rounded once */
  const double *moves[3]; /* (nullable): four for each element of y along an axis: offsets of the
                             weights of its taps, in order */
} AdjKPlaces;

/* x […, D, H, W] and y […, OD, OH, OW] have the same sizes before the last three, and are floating;
 * only the last @n_axes differ in size. */
typedef struct
{
  AdjKView x, y;
  AdjKResampleMode mode;
  int n_axes;
  bool align_corners; /* for blends: the corners of x and y are aligned */
  bool antialias;  /* for blends: when y is smaller, every element is averaged over all of x that it
                      covers */
  double scale[3]; /* size of y relative to x along an axis; 0: given by the sizes */
  AdjKPlaces places; /* for blends */
} AdjKResample;

/* Writes y. */
bool adj_k_resample (const AdjKResample *resample);

/* Writes x, the gradient of x when y holds that of y: summed over y in row-major order. */
bool adj_k_resample_backward (const AdjKResample *resample);
