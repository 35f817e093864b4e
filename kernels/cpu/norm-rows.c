/* SPDX-License-Identifier: MIT */

/* Gradients of a layer norm by rows that are kept in a tile.  Those of weight and bias, sums over
 * the rows, come from the same pass: each row is added to a lane of its leaf. */

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "norm.h"

enum
{
  SERIAL = 16 * 1024, /* elements below which threads do not pay */
  LONGEST = 2048      /* length of rows whose lanes stay in the cache */
};

typedef struct
{
  const ClassLoops *loops;
  AdjKView x, g, gx, mean, rstd, x_rows, g_rows, gx_rows;
  const void *w; /* nullable: of the class */
  int n;
} Held;

/* Sums of rows: LANES rows of each kind, or one; NULL: not wanted. */
typedef struct
{
  char *w, *b;
} Sums;

static Sums
sums_at (const Held *held, const Sums *sums, int64_t row)
{
  size_t at = (size_t) (row * held->n) * held->loops->size;

  return (Sums){ sums->w ? sums->w + at : NULL, sums->b ? sums->b + at : NULL };
}

/* h = g w, its sum and that of h x̂ */
static void
spread_row (const Held *held,
            void *h,
            void *normal,
            void *product,
            const void *x,
            const void *g,
            const Scalar *mean,
            const Scalar *rstd)
{
  const ClassLoops *loops = held->loops;

  if (held->w)
    {
      loops->rows.spread (h, normal, product, x, g, held->w, mean, rstd, held->n);
      return;
    }
  loops->rows.normalize (normal, x, mean, rstd, held->n);
  memcpy (h, g, (size_t) held->n * loops->size);
  loops->op[ADJ_K_OP_MUL](product, h, normal, NULL, held->n);
}

/* Prefetches the next row while the present one is computed. */
static void
ask_for_row (const AdjKView *row, const AdjKView *rows, int64_t i, int n)
{
  const char *at, *end;

  if (i >= adj_k_view_count (rows) || row->rank != 1 || row->stride[0] != 1)
    return;
  at = view_at (row, adj_k_view_offset (rows, i));
  end = at + (size_t) n * adj_k_type_get_size (row->type);
  for (; at < end; at += 64)
    __builtin_prefetch (at, 0, 2);
}

/* @sums: (nullable): lanes that row @i is added to */
static void
differentiate_row (const Held *held, int64_t i, const Sums *sums)
{
  const ClassLoops *loops = held->loops;
  int64_t base = adj_k_view_offset (&held->gx_rows, i);
  Scalar x_tile[HELD], g_tile[HELD], h_tile[HELD], product[HELD];
  Scalar mean = adj_k_load_one (loops, &held->mean, adj_k_view_offset (&held->mean, i));
  Scalar rstd = adj_k_load_one (loops, &held->rstd, adj_k_view_offset (&held->rstd, i));
  const void *x =
      adj_k_hold_row (loops, x_tile, &held->x, adj_k_view_offset (&held->x_rows, i), held->n);
  const void *g =
      adj_k_hold_row (loops, g_tile, &held->g, adj_k_view_offset (&held->g_rows, i), held->n);
  void *h = adj_k_begin_row (loops, h_tile, &held->gx, base);
  Scalar sum_h, sum_p;

  ask_for_row (&held->x, &held->x_rows, i + 1, held->n);
  ask_for_row (&held->g, &held->g_rows, i + 1, held->n);
  ask_for_row (&held->gx, &held->gx_rows, i + 1, held->n);
  if (sums && sums->w)
    loops->rows.add_normal (sums->w, x, g, &mean, &rstd, held->n);
  if (sums && sums->b)
    loops->reduce[COMBINE_SUM].join (sums->b, g, held->n);
  spread_row (held, h, x_tile, product, x, g, &mean, &rstd);
  sum_h = adj_k_norm_mean (loops, h, held->n);
  sum_p = adj_k_norm_mean (loops, product, held->n);
  loops->rows.center (h, x_tile, &sum_p, &sum_h, &rstd, held->n);
  adj_k_store_row (loops, &held->gx, base, h, held->n);
}

/* --- sums over the rows ------------------------------------------------------------------------
 */

static void
fold_lanes (const Held *held, void *lanes, void *result, int64_t n)
{
  const ClassLoops *loops = held->loops;

  if (!lanes)
    return;
  adj_k_tree_fold_lanes (&loops->reduce[COMBINE_SUM], lanes, n, held->n, loops->size);
  memcpy (result, lanes, (size_t) held->n * loops->size);
}

/* Rows @first … @first + @n - 1, a leaf of the tree; its sums go to @to. */
static void
differentiate_leaf (const Held *held, const Sums *lanes, const Sums *to, int64_t first, int64_t n)
{
  size_t cleared = (size_t) (min_i64 (n, LANES) * held->n) * held->loops->size;

  if (lanes->w)
    memset (lanes->w, 0, cleared);
  if (lanes->b)
    memset (lanes->b, 0, cleared);
  for (int64_t i = 0; i < n; i++)
    {
      Sums lane = sums_at (held, lanes, i % LANES);

      differentiate_row (held, first + i, &lane);
    }
  fold_lanes (held, lanes->w, to->w, n);
  fold_lanes (held, lanes->b, to->b, n);
}

static void
store_sum (const Held *held, const AdjKView *to, int n_dims, void *leaves, int64_t n_leaves)
{
  const ClassLoops *loops = held->loops;
  AdjKView column;

  if (!leaves)
    return;
  column = adj_k_norm_column (to, n_dims);
  adj_k_tree_join_leaves (&loops->reduce[COMBINE_SUM], leaves, n_leaves, held->n, loops->size);
  adj_k_store (loops, &column, 0, 0, leaves, held->n);
}

/* false: no memory */
static bool
differentiate_leaves (const AdjKLayerNormBackward *norm, const Held *held, int64_t n_rows)
{
  int64_t n_leaves = (n_rows + LEAF - 1) / LEAF;
  size_t row = (size_t) held->n * held->loops->size;
  size_t of_leaves = row * (size_t) n_leaves, of_lanes = row * LANES;
  int threads = n_leaves > 1 ? omp_get_max_threads () : 1;
  char *memory = malloc (2 * of_leaves + 2 * of_lanes * (size_t) threads);
  Sums leaves = { norm->gw ? memory : NULL, norm->gb ? memory + of_leaves : NULL };

  if (!memory)
    return false;

#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
  for (int64_t leaf = 0; leaf < n_leaves; leaf++)
    {
      char *own = memory + 2 * of_leaves + 2 * of_lanes * (size_t) omp_get_thread_num ();
      Sums lanes = { norm->gw ? own : NULL, norm->gb ? own + of_lanes : NULL };
      Sums to = sums_at (held, &leaves, leaf);

      differentiate_leaf (held, &lanes, &to, leaf * LEAF, min_i64 (LEAF, n_rows - leaf * LEAF));
    }

  store_sum (held, norm->gw, norm->n_dims, leaves.w, n_leaves);
  store_sum (held, norm->gb, norm->n_dims, leaves.b, n_leaves);
  free (memory);
  return true;
}

/* Whether sums over the rows are computed in the same pass: lanes stay in the cache, there is a
 * leaf for each thread, and all is of one class. */
static bool
sums_pay (const AdjKLayerNormBackward *norm, int64_t n_rows, int64_t n)
{
  AdjKClass klass = class_of (norm->gx->type);

  return (norm->gw || norm->gb) && n <= LONGEST &&
         (n_rows + LEAF - 1) / LEAF >= (n_rows * n > SERIAL ? omp_get_max_threads () : 1) &&
         (!norm->gw || class_of (norm->gw->type) == klass) &&
         (!norm->gb || class_of (norm->gb->type) == klass);
}

bool
adj_k_norm_backward_rows (const AdjKLayerNormBackward *norm)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (norm->gx->type)];
  Scalar w_tile[HELD];
  AdjKView w = adj_k_norm_column (norm->w ? norm->w : &norm->x, norm->n_dims);
  Held held = {
    .loops = loops,
    .x = adj_k_norm_column (&norm->x, norm->n_dims),
    .g = adj_k_norm_column (&norm->g, norm->n_dims),
    .gx = adj_k_norm_column (norm->gx, norm->n_dims),
    .mean = adj_k_norm_row (&norm->mean, norm->n_dims),
    .rstd = adj_k_norm_row (&norm->rstd, norm->n_dims),
    .x_rows = adj_k_norm_row (&norm->x, norm->n_dims),
    .g_rows = adj_k_norm_row (&norm->g, norm->n_dims),
    .gx_rows = adj_k_norm_row (norm->gx, norm->n_dims),
  };
  int64_t n_rows = adj_k_view_count (&held.x_rows);

  held.n = (int) adj_k_view_count (&held.x);
  held.w = norm->w ? adj_k_hold_row (loops, w_tile, &w, 0, held.n) : NULL;
  if (sums_pay (norm, n_rows, held.n) && differentiate_leaves (norm, &held, n_rows))
    return true;

#pragma omp parallel for schedule(static) if (n_rows > 1 && n_rows * held.n > SERIAL)
  for (int64_t i = 0; i < n_rows; i++)
    differentiate_row (&held, i, NULL);
  return false;
}
