/* SPDX-License-Identifier: MIT */
/* The first largest or smallest element of a row: a block per output. */

#include "cuda/args.h"
#include "cuda/fold.h"

#define CLASS f32
#define T float
#include "cuda/extreme.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/extreme.inc"
#undef CLASS
#undef T

#define CLASS i64
#define T int64_t
#include "cuda/extreme.inc"
#undef CLASS
#undef T
