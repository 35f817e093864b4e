/* SPDX-License-Identifier: MIT */
/* Negative log likelihood: a thread per sample; one block for the sum of all. */

#include "cuda/args.h"
#include "cuda/fold.h"

#define CLASS f32
#define T float
#include "cuda/loss.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/loss.inc"
#undef CLASS
#undef T
