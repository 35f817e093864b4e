/* SPDX-License-Identifier: MIT */
/* Resampling: a thread per element of y; the gradient of x by a thread per volume, since elements
 * of x meet there. */

#include "cuda/args.h"
#include "cuda/fold.h"

DEVICE int64_t
voxel_offset (const AdjKView *view, int64_t d, int64_t h, int64_t w)
{
  const int64_t *stride = view->stride + view->rank - 3;

  return d * stride[0] + h * stride[1] + w * stride[2];
}

/* The weighted sum of @value over the taps @tap of element @i along @axis. */
#define WEIGH(sum, axis, i, tap, value)                                                            \
  for (const ResampleTap *tap = args.taps[axis] + args.first[axis][i],                             \
                         *tap##_first = tap;                                                       \
       tap < args.taps[axis] + args.first[axis][(i) + 1]; tap++)                                   \
    {                                                                                              \
      T tap##_part = (T) tap->weight * (value);                                                    \
                                                                                                   \
      sum = tap == tap##_first ? tap##_part : sum + tap##_part;                                    \
    }

#define FOR_TAPS(tap, axis, i)                                                                     \
  for (const ResampleTap *tap = args.taps[axis] + args.first[axis][i];                             \
       tap < args.taps[axis] + args.first[axis][(i) + 1]; tap++)

#define CLASS f32
#define T float
#include "cuda/resample.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/resample.inc"
#undef CLASS
#undef T
