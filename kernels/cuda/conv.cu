/* SPDX-License-Identifier: MIT */
/* Convolutions as matrix products (implicit GEMM): the elements that a tile needs are gathered when
 * it is loaded, in the order of k in which the CPU gathers them. */

#include "cuda/product.h"

enum
{
  CONV_CHUNK = 1024 /* positions of a chunk of the weight gradient */
};

/* Element [n, c, 0, 0, 0] of a view of rank 5. */
DEVICE int64_t
channel_offset (const AdjKView *view, int64_t n, int64_t c)
{
  return n * view->stride[0] + c * view->stride[1];
}

/* The spatial index of position @i of @view, and its offset. */
DEVICE int64_t
position_of (const AdjKView *view, int64_t i, int64_t *at)
{
  int64_t offset = 0;

  for (int d = 2; d >= 0; d--)
    {
      at[d] = i % view->size[2 + d];
      i /= view->size[2 + d];
      offset += at[d] * view->stride[2 + d];
    }
  return offset;
}

/* Where element @at of y sees x through @tap; -1: beside it. */
DEVICE int64_t
seen_in_x (const ConvArgs *args, const int64_t *at, const int64_t *tap)
{
  int64_t offset = 0;

  for (int d = 0; d < 3; d++)
    {
      int64_t p = at[d] * args->stride[d] - args->padding[d] + tap[d] * args->dilation[d];

      if (p < 0 || p >= args->x.size[2 + d])
        return -1;
      offset += p * args->x.stride[2 + d];
    }
  return offset;
}

/* Which element of y sees element @at of x through @tap; -1: none. */
DEVICE int64_t
seen_from_y (const ConvArgs *args, const int64_t *at, const int64_t *tap)
{
  int64_t offset = 0;

  for (int d = 0; d < 3; d++)
    {
      int64_t p = at[d] + args->padding[d] - tap[d] * args->dilation[d], s = args->stride[d];

      if (p < 0 || p % s != 0 || p / s >= args->y.size[2 + d])
        return -1;
      offset += p / s * args->y.stride[2 + d];
    }
  return offset;
}

DEVICE int64_t
spatial_count (const AdjKView *view)
{
  return view->size[2] * view->size[3] * view->size[4];
}

#define CLASS f32
#define T float
#include "cuda/conv.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/conv.inc"
#undef CLASS
#undef T

#define CLASS i64
#define T int64_t
#include "cuda/conv.inc"
#undef CLASS
#undef T
