/* SPDX-License-Identifier: MIT */
/* Matrix products. */

#include "cuda/product.h"

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
