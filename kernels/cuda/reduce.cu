/* SPDX-License-Identifier: MIT */
/* Reductions: a block takes a chunk of 64 leaves of one output; several chunks are joined by a
 * second kernel; both by the tree of the CPU. */

#include "cuda/args.h"
#include "cuda/fold.h"

DEVICE float
f32_mean_of (float sum, int64_t n)
{
  return sum / (float) n;
}

DEVICE double
f64_mean_of (double sum, int64_t n)
{
  return sum / (double) n;
}

DEVICE int64_t
i64_mean_of (int64_t sum, int64_t n)
{
  return i64_floordiv (sum, n);
}

DEVICE float
f32_root_of (float x)
{
  return sqrtf (x);
}

DEVICE double
f64_root_of (double x)
{
  return sqrt (x);
}

DEVICE int64_t
i64_root_of (int64_t x)
{
  return x;
}

#define CLASS f32
#define T float
#include "cuda/reduce.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/reduce.inc"
#undef CLASS
#undef T

#define CLASS i64
#define T int64_t
#include "cuda/reduce.inc"
#undef CLASS
#undef T
