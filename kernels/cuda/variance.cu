/* SPDX-License-Identifier: MIT */
/* Variance and mean: a block per output, two passes. */

#include "cuda/args.h"
#include "cuda/fold.h"

#define CLASS f32
#define T float
#include "cuda/variance.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/variance.inc"
#undef CLASS
#undef T
