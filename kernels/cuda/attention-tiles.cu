/* SPDX-License-Identifier: MIT */
/* Attention without memory for scores: a block makes those of 16 rows of q and 64 rows of k at a
 * time.  A first kernel finds the largest score and the sum of each row, a second one makes the
 * scores again and sums the values; so sums have the order of the CPU, which those of one pass,
 * scaled whenever the largest score changes, would not. */

#include "cuda/product.h"

enum
{
  TILE_EACH = 4, /* columns of a tile for each thread, 16 apart */
  TILE_ROWS = 96 /* causal rows that compute the same columns, as on the CPU */
};

/* Where row @row of head @head of @view begins. */
DEVICE int64_t
head_row (const TilesArgs *args, const AdjKView *view, int64_t head, int64_t row)
{
  int64_t heads = args->q.size[1];

  return head / heads * view->stride[0] + head % heads * view->stride[1] + row * view->stride[2];
}

/* The columns of rows from @row on, 16 of them. */
DEVICE int64_t
columns_of (const TilesArgs *args, int64_t row)
{
  int64_t n = args->k.size[2], end = (row / TILE_ROWS + 1) * TILE_ROWS;

  end = end < args->q.size[2] ? end : args->q.size[2];
  return args->causal && end < n ? end : n;
}

#define FOR_EACH_OWN(u) UNROLLED for (int u = 0; u < TILE_EACH; u++)

#define CLASS f32
#define T float
#include "cuda/attention-tiles.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/attention-tiles.inc"
#undef CLASS
#undef T
