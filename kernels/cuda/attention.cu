/* SPDX-License-Identifier: MIT */
/* Rows of attention: between the matrix products that make scores and results (cuda/attention.c),
 * a block per row makes probabilities of scores, or gradients. */

#include "cuda/args.h"
#include "cuda/fold.h"

/* The offset of row @row, counted over batch, head and query, of a view of rank 3 or more. */
DEVICE int64_t
row_offset (const AdjKView *view, const AdjKView *shape, int64_t row)
{
  int64_t queries = shape->size[2], heads = shape->size[1];

  return row / queries / heads * view->stride[0] + row / queries % heads * view->stride[1] +
         row % queries * view->stride[2];
}

#define CLASS f32
#define T float
#include "cuda/attention.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/attention.inc"
#undef CLASS
#undef T
