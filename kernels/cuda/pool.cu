/* SPDX-License-Identifier: MIT */
/* Pooling: a thread per element of the result; where elements meet, a block per volume. */

#include "cuda/args.h"
#include "cuda/fold.h"

#include "cpu/pool-window.h"

enum
{
  POOL_THREADS = 256 /* of a block that takes a volume */
};

/* The windows of one output element, and the offset of the element in its volume. */
typedef struct
{
  Window along[3];
} Box;

/* Element @i of the last three dims of @view: its index and its offset. */
DEVICE int64_t
element_of (const AdjKView *view, int64_t i, int64_t *at)
{
  int64_t offset = 0;

  for (int d = 2; d >= 0; d--)
    {
      int dim = view->rank - 3 + d;

      at[d] = i % view->size[dim];
      i /= view->size[dim];
      offset += at[d] * view->stride[dim];
    }
  return offset;
}

DEVICE int64_t
element_offset (const AdjKView *view, int64_t d, int64_t h, int64_t w)
{
  const int64_t *stride = view->stride + view->rank - 3;

  return d * stride[0] + h * stride[1] + w * stride[2];
}

DEVICE int64_t
elements (const AdjKView *view)
{
  const int64_t *size = view->size + view->rank - 3;

  return size[0] * size[1] * size[2];
}

DEVICE Window
window_at (const AdjKPool *pool, int axis, int64_t i)
{
  return window_of (pool, axis, pool->x.size[pool->x.rank - 3 + axis],
                    pool->y.size[pool->y.rank - 3 + axis], i);
}

DEVICE Box
box_at (const AdjKPool *pool, const int64_t *at)
{
  Box box;

  for (int axis = 0; axis < 3; axis++)
    box.along[axis] = window_at (pool, axis, at[axis]);
  return box;
}

DEVICE int64_t
divisor_of (const AdjKPool *pool, const Box *box)
{
  int64_t full = 1, inside = 1;

  for (int axis = 0; axis < 3; axis++)
    {
      full *= box->along[axis].full;
      inside *= box->along[axis].end - box->along[axis].begin;
    }
  if (pool->divisor != 0)
    return pool->divisor;
  return pool->counts_padding ? full : inside > 1 ? inside : 1;
}

DEVICE bool
sees (const Window *window, int64_t i)
{
  return i >= window->begin && i < window->end && (i - window->begin) % window->step == 0;
}

KERNEL (adj_check, CheckArgs)
{
  FOR_EACH (i, args.n)
    {
      int64_t v = i64_load (args.indices.data, args.indices.type, offset_of (&args.indices, i));

      if (v < 0 || v >= args.limit)
        set_min (&args.faults->bad_index, v);
    }
}

#define FOR_BOX(d, h, w)                                                                           \
  for (int64_t d = box.along[0].begin; d < box.along[0].end; d += box.along[0].step)               \
    for (int64_t h = box.along[1].begin; h < box.along[1].end; h += box.along[1].step)             \
      for (int64_t w = box.along[2].begin; w < box.along[2].end; w += box.along[2].step)

#define CLASS f32
#define T float
#include "cuda/pool.inc"
#undef CLASS
#undef T

#define CLASS f64
#define T double
#include "cuda/pool.inc"
#undef CLASS
#undef T

#define CLASS i64
#define T int64_t
#include "cuda/pool.inc"
#undef CLASS
#undef T
