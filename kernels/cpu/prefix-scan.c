/* SPDX-License-Identifier: MIT */

/* Sequential passes along one dim: the first extreme element, running sums and products. */

#include <string.h>

#include "tile.h"

enum
{
  SERIAL = 32 * 1024 /* elements below which threads do not pay */
};

/* --- first extreme element ---------------------------------------------------------------------
 */

typedef struct
{
  Scalar value;
  int64_t index; /* -1 before the first element */
} Best;

/* Continues over @n elements, the first of which has index @start. */
typedef void (*ScanTile) (Best *best, const void *tile, int64_t start, int n);

/* A NaN beats everything except an earlier NaN. */
#define SCAN(name, T, field, BEATS)                                                                \
  static void name (Best *best, const void *tile, int64_t start, int n)                            \
  {                                                                                                \
    const T *x = tile;                                                                             \
    T top = best->index < 0 ? x[0] : best->value.field;                                            \
    int64_t at = best->index < 0 ? start : best->index;                                            \
                                                                                                   \
    for (int i = 0; i < n; i++)                                                                    \
      if (x[i] BEATS top || (x[i] != x[i] && top == top))                                          \
        {                                                                                          \
          top = x[i];                                                                              \
          at = start + i;                                                                          \
        }                                                                                          \
    best->value.field = top;                                                                       \
    best->index = at;                                                                              \
  }

SCAN (scan_max_f32, float, f32, >)
SCAN (scan_min_f32, float, f32, <)
SCAN (scan_max_f64, double, f64, >)
SCAN (scan_min_f64, double, f64, <)

#define SCAN_INT(name, BEATS)                                                                      \
  static void name (Best *best, const void *tile, int64_t start, int n)                            \
  {                                                                                                \
    const int64_t *x = tile;                                                                       \
                                                                                                   \
    for (int i = 0; i < n; i++)                                                                    \
      if (best->index < 0 || x[i] BEATS best->value.i64)                                           \
        {                                                                                          \
          best->value.i64 = x[i];                                                                  \
          best->index = start + i;                                                                 \
        }                                                                                          \
  }

SCAN_INT (scan_max_i64, >)
SCAN_INT (scan_min_i64, <)

static const ScanTile scans[ADJ_K_CLASS_N][2] = {
  [ADJ_K_CLASS_F32] = { scan_max_f32, scan_min_f32 },
  [ADJ_K_CLASS_F64] = { scan_max_f64, scan_min_f64 },
  [ADJ_K_CLASS_I64] = { scan_max_i64, scan_min_i64 },
};

static Best
find_best (const ClassLoops *loops, ScanTile scan, const AdjKView *along, int64_t base)
{
  Best best = { .index = -1 };
  int64_t n = adj_k_view_count (along);

  for (int64_t start = 0; start < n; start += TILE)
    {
      Scalar tile[TILE];
      int m = (int) min_i64 (TILE, n - start);

      adj_k_load (loops, tile, along, base, start, m);
      scan (&best, tile, start, m);
    }
  return best;
}

static void
extreme_dim (
    const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim, bool smallest)
{
  AdjKClass klass = class_of (in->type);
  const Loops *loops = adj_k_loops ();
  uint32_t dims = dim < 0 ? UINT32_MAX : UINT32_C (1) << dim;
  AdjKView along = adj_k_view_keep (in, dims), kept = adj_k_view_keep (in, ~dims);
  AdjKView index = adj_k_view_keep (indices, ~dims);
  AdjKView value = adj_k_view_keep (values ? values : indices, ~dims);
  int64_t n = adj_k_view_count (&kept);

  adj_k_views_merge (&along, 1);

#pragma omp parallel for schedule(static) if (n > 1 && n * adj_k_view_count(&along) > SERIAL)
  for (int64_t i = 0; i < n; i++)
    {
      Best best = find_best (&loops->klass[klass], scans[klass][smallest], &along,
                             adj_k_view_offset (&kept, i));

      adj_k_store_one (&loops->klass[ADJ_K_CLASS_I64], &index, adj_k_view_offset (&index, i),
                       (Scalar){ .i64 = best.index });
      if (values)
        adj_k_store_one (&loops->klass[klass], &value, adj_k_view_offset (&value, i), best.value);
    }
}

void
adj_k_max_dim (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim)
{
  extreme_dim (values, indices, in, dim, false);
}

void
adj_k_min_dim (const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim)
{
  extreme_dim (values, indices, in, dim, true);
}

/* --- running sums and products -----------------------------------------------------------------
 */

#define RUN(T, field, EXPR)                                                                        \
  {                                                                                                \
    T *x = tile;                                                                                   \
    T y = carry->field;                                                                            \
                                                                                                   \
    for (int i = 0; i < n; i++)                                                                    \
      x[i] = y = (T) (EXPR);                                                                       \
    carry->field = y;                                                                              \
  }

static void
run_tile (Scalar *carry, void *tile, int n, AdjKClass klass, bool product)
{
  if (klass == ADJ_K_CLASS_I64 && product)
    RUN (int64_t, i64, (uint64_t) y * (uint64_t) x[i])
  else if (klass == ADJ_K_CLASS_I64)
    RUN (int64_t, i64, (uint64_t) y + (uint64_t) x[i])
  else if (product)
    RUN (double, f64, y *x[i])
  else
    RUN (double, f64, y + x[i])
}

static void
cumulate (const AdjKView *out, const AdjKView *in, int dim, bool product)
{
  AdjKClass klass = class_of (out->type) == ADJ_K_CLASS_I64 ? ADJ_K_CLASS_I64 : ADJ_K_CLASS_F64;
  const ClassLoops *loops = &adj_k_loops ()->klass[klass];
  uint32_t dims = dim < 0 || in->rank == 0 ? 0 : UINT32_C (1) << dim;
  AdjKView to = adj_k_view_keep (out, dims), from = adj_k_view_keep (in, dims);
  AdjKView to_kept = adj_k_view_keep (out, ~dims), from_kept = adj_k_view_keep (in, ~dims);
  int64_t n = adj_k_view_count (&from), rows = adj_k_view_count (&from_kept);

#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > SERIAL)
  for (int64_t row = 0; row < rows; row++)
    {
      Scalar carry = { .i64 = product };

      if (klass == ADJ_K_CLASS_F64)
        carry.f64 = product;
      for (int64_t start = 0; start < n; start += TILE)
        {
          Scalar tile[TILE];
          int m = (int) min_i64 (TILE, n - start);

          adj_k_load (loops, tile, &from, adj_k_view_offset (&from_kept, row), start, m);
          run_tile (&carry, tile, m, klass, product);
          adj_k_store (loops, &to, adj_k_view_offset (&to_kept, row), start, tile, m);
        }
    }
}

void
adj_k_cumsum (const AdjKView *out, const AdjKView *in, int dim)
{
  cumulate (out, in, dim, false);
}

void
adj_k_cumprod (const AdjKView *out, const AdjKView *in, int dim)
{
  cumulate (out, in, dim, true);
}
