/* SPDX-License-Identifier: MIT */
/* Layer normalisation and its gradients: a block per row, and per column for the weight. */

#include "cuda/args.h"
#include "cuda/fold.h"

#define CLASS f32
#define T float
#include "cuda/layer-norm.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/layer-norm.inc"
#undef CLASS
#undef T
