/* SPDX-License-Identifier: MIT */
/* Softmax, log-softmax and their gradients: a block per row. */

#include "cuda/args.h"
#include "cuda/fold.h"

#define CLASS f32
#define T float
#include "cuda/softmax.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/softmax.inc"
#undef CLASS
#undef T
