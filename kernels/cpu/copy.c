/* SPDX-License-Identifier: MIT */
/* Copies and casts between views of any type, fills, ranges and triangles. */

#include <string.h>

#include "tile.h"

/* Elements below which threads do not pay are TILE × BLOCK. */
enum
{
  BLOCK = 64,
  EDGE = 32
};

/* The class for a cast: it represents both types exactly, or rounds like the type. */
static AdjKClass
class_of_cast (AdjKType to, AdjKType from)
{
  AdjKClass a = class_of (to), b = class_of (from);

  if (a == ADJ_K_CLASS_F64 || b == ADJ_K_CLASS_F64)
    return ADJ_K_CLASS_F64;
  return a == ADJ_K_CLASS_F32 || b == ADJ_K_CLASS_F32 ? ADJ_K_CLASS_F32 : ADJ_K_CLASS_I64;
}

static void
copy_cast (const AdjKView *dst, const AdjKView *src)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of_cast (dst->type, src->type)];
  int64_t n = adj_k_view_count (dst);

#pragma omp parallel for schedule(static) if (n > TILE * BLOCK)
  for (int64_t start = 0; start < n; start += TILE)
    {
      Scalar tile[TILE];
      int m = (int) min_i64 (TILE, n - start);

      adj_k_load (loops, tile, src, 0, start, m);
      adj_k_store (loops, dst, 0, start, tile, m);
    }
}

#define COPY_RUN(C)                                                                                \
  {                                                                                                \
    C *d = dst;                                                                                    \
    const C *s = src;                                                                              \
                                                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                \
      d[i * dst_stride] = s[i * src_stride];                                                       \
  }                                                                                                \
  break

void
adj_k_copy_run (
    void *dst, int64_t dst_stride, const void *src, int64_t src_stride, int64_t n, size_t size)
{
  if (dst_stride == 1 && src_stride == 1)
    {
      memcpy (dst, src, (size_t) n * size);
      return;
    }

  switch (size)
    {
    case 1:
      COPY_RUN (uint8_t);
    case 2:
      COPY_RUN (uint16_t);
    case 4:
      COPY_RUN (uint32_t);
    default:
      COPY_RUN (uint64_t);
    }
}

/* The dim along which @src is denser than along its last dim, or -1. */
static int
dim_across (const AdjKView *src)
{
  int last = src->rank - 1, across = -1;

  for (int d = 0; d < last; d++)
    if (src->stride[d] < src->stride[across < 0 ? last : across])
      across = d;
  return across;
}

/* Copies bytes unchanged (NaN payloads too), by runs of the last dim; a transposition goes by
 * squares of EDGE elements, to use cache lines while they are in the cache. */
static void
copy_same (const AdjKView *dst, const AdjKView *src)
{
  int last = dst->rank - 1, across = dim_across (src);
  uint32_t inner = UINT32_C (1) << last | (across < 0 ? 0 : UINT32_C (1) << across);
  AdjKView to = adj_k_view_keep (dst, ~inner), from = adj_k_view_keep (src, ~inner);
  int64_t length = dst->size[last], step = across < 0 ? length : EDGE;
  int64_t lines = across < 0 ? 1 : dst->size[across];
  int64_t to_next = across < 0 ? 0 : dst->stride[across];
  int64_t from_next = across < 0 ? 0 : src->stride[across];
  int64_t bands = (lines + EDGE - 1) / EDGE, n = adj_k_view_count (&to) * bands;
  size_t size = adj_k_type_get_size (dst->type);

#pragma omp parallel for schedule(static) if (n * length > TILE * BLOCK)
  for (int64_t i = 0; i < n; i++)
    {
      int64_t first = i % bands * EDGE, end = min_i64 (lines, first + EDGE);
      int64_t at = adj_k_view_offset (&to, i / bands),
              from_at = adj_k_view_offset (&from, i / bands);

      for (int64_t j = 0; j < length; j += step)
        for (int64_t line = first; line < end; line++)
          adj_k_copy_run (view_at (dst, at + line * to_next + j * dst->stride[last]),
                          dst->stride[last],
                          view_at (src, from_at + line * from_next + j * src->stride[last]),
                          src->stride[last], min_i64 (step, length - j), size);
    }
}

void
adj_k_copy (const AdjKView *dst, const AdjKView *src)
{
  AdjKView views[2] = { *dst, *src };

  adj_k_views_merge_any_order (views, 2);
  if (dst->type == src->type)
    copy_same (&views[0], &views[1]);
  else
    copy_cast (&views[0], &views[1]);
}

void
adj_k_fill_f64 (const AdjKView *dst, double value)
{
  AdjKView src = *dst;

  src.data = &value;
  src.type = ADJ_K_F64;
  memset (src.stride, 0, sizeof src.stride);
  adj_k_copy (dst, &src);
}

void
adj_k_fill_i64 (const AdjKView *dst, int64_t value)
{
  AdjKView src = *dst;

  src.data = &value;
  src.type = ADJ_K_I64;
  memset (src.stride, 0, sizeof src.stride);
  adj_k_copy (dst, &src);
}

void
adj_k_iota_f64 (const AdjKView *dst, double start, double step)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[ADJ_K_CLASS_F64];
  int64_t n = adj_k_view_count (dst);

  for (int64_t at = 0; at < n; at += TILE)
    {
      double tile[TILE];
      int m = (int) min_i64 (TILE, n - at);

      for (int i = 0; i < m; i++)
        tile[i] = start + (double) (at + i) * step;
      adj_k_store (loops, dst, 0, at, tile, m);
    }
}

void
adj_k_iota_i64 (const AdjKView *dst, int64_t start, int64_t step)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[ADJ_K_CLASS_I64];
  int64_t n = adj_k_view_count (dst);

  for (int64_t at = 0; at < n; at += TILE)
    {
      int64_t tile[TILE];
      int m = (int) min_i64 (TILE, n - at);

      for (int i = 0; i < m; i++)
        tile[i] = (int64_t) ((uint64_t) start + (uint64_t) (at + i) * (uint64_t) step);
      adj_k_store (loops, dst, 0, at, tile, m);
    }
}

/* Copies everything, then zeroes columns [from (i), to (i)) of each row i. */
static void
triangle (const AdjKView *dst, const AdjKView *src, int64_t diagonal, bool upper)
{
  int rank = dst->rank;
  int64_t rows = dst->size[rank - 2], cols = dst->size[rank - 1];
  AdjKView matrices = *dst;

  adj_k_copy (dst, src);
  matrices.rank = rank - 2;

  int64_t n = adj_k_view_count (&matrices);

  for (int64_t m = 0; m < n; m++)
    for (int64_t i = 0; i < rows; i++)
      {
        /* Kept: j - i <= diagonal, or j - i >= diagonal; `edge` is the first j of the other kind.
         */
        int64_t limit = upper ? diagonal : diagonal == INT64_MAX ? diagonal : diagonal + 1;
        int64_t edge = limit < -i ? 0 : limit > cols - i ? cols : limit + i;
        int64_t from = upper ? 0 : edge;
        AdjKView part = { .type = dst->type, .rank = 1 };

        part.size[0] = upper ? edge : cols - edge;
        part.stride[0] = dst->stride[rank - 1];
        part.data = view_at (dst, adj_k_view_offset (&matrices, m) + i * dst->stride[rank - 2] +
                                      from * dst->stride[rank - 1]);
        adj_k_fill_i64 (&part, 0);
      }
}

void
adj_k_tril (const AdjKView *dst, const AdjKView *src, int64_t diagonal)
{
  triangle (dst, src, diagonal, false);
}

void
adj_k_triu (const AdjKView *dst, const AdjKView *src, int64_t diagonal)
{
  triangle (dst, src, diagonal, true);
}
