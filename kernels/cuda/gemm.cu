/* SPDX-License-Identifier: MIT */
/* Matrix products: a block makes a tile of 16 × 16, each element a sum over slices of 128 of k,
 * slices in sequence, as on the CPU. */

#include "cuda/args.h"
#include "cuda/fold.h"

enum
{
  GEMM_TILE = 16,
  GEMM_SLICE = 128 /* of k; a multiple of the tile */
};

#define CLASS f32
#define T float
#include "cuda/gemm.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/gemm.inc"
#undef CLASS
#undef T

#define CLASS i64
#define T int64_t
#include "cuda/gemm.inc"
#undef CLASS
#undef T
