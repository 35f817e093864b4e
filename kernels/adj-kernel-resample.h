/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Resampling of volumes to other sizes, one axis after the other.  What adj-kernels.h says of
 * kernels holds here too, and: these return false, with the output in an unspecified state, when
 * memory ran out. */

/* How an element of y comes from those of x along an axis. */
typedef enum
{
  ADJ_K_RESAMPLE_NEAREST,       /* ⌊i · ratio⌋, in f32 as PyTorch does */
  ADJ_K_RESAMPLE_NEAREST_EXACT, /* ⌊(i + ½) · ratio⌋ */
  ADJ_K_RESAMPLE_LINEAR,        /* the two around it */
  ADJ_K_RESAMPLE_CUBIC,         /* the four around it */
  ADJ_K_RESAMPLE_N
} AdjKResampleMode;

/* How the places are computed that elements of y have in x: other than x is, to find how far y
 * depends on that. */
typedef struct
{
  bool narrow;            /* in f32 */
  bool fused;             /* a product and what is taken from it are rounded once */
  const double *moves[3]; /* (nullable): four for each element of y along an axis, by which the
                             weights of x there are moved, in turn */
} AdjKPlaces;

/* x […, D, H, W] and y […, OD, OH, OW] have the same sizes before the last three, and are floating;
 * only the last @n_axes differ in size. */
typedef struct
{
  AdjKView x, y;
  AdjKResampleMode mode;
  int n_axes;
  bool align_corners; /* of blends: the corners of x and y are at the same places */
  bool antialias;     /* of blends: a smaller y sees all that its elements cover */
  double scale[3];    /* how much larger y is along an axis; 0: by the sizes */
  AdjKPlaces places;  /* of blends */
} AdjKResample;

/* Writes y. */
bool adj_k_resample (const AdjKResample *resample);

/* Writes x, the gradient of x when y holds that of y: summed over y in row-major order. */
bool adj_k_resample_backward (const AdjKResample *resample);
