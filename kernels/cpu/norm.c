/* SPDX-License-Identifier: MIT */

/* Layer normalisation.  Rows of N elements: μ = mean, r = 1 / √(mean (x - μ)² + eps), x̂ = (x - μ)
 * r, y = x̂ w + b.  Backward, with h = g w: gx = r (h - (Σh + x̂ Σ(h x̂)) / N), gw = Σ_rows g x̂, gb =
 * Σ_rows g. */

#include "norm.h"

#include <string.h>

enum
{
  SERIAL = 16 * 1024 /* elements below which threads do not pay */
};

static uint32_t
last_dims (const AdjKView *view, int n)
{
  return (UINT32_C (1) << view->rank) - (UINT32_C (1) << (view->rank - n));
}

AdjKView
adj_k_norm_column (const AdjKView *view, int n)
{
  AdjKView columns = adj_k_view_keep (view, last_dims (view, n));

  adj_k_views_merge (&columns, 1);
  return columns;
}

AdjKView
adj_k_norm_row (const AdjKView *view, int n)
{
  AdjKView rows = *view;

  rows.rank -= n;
  return rows;
}

Scalar
adj_k_norm_mean (const ClassLoops *loops, const void *from, int n)
{
  Scalar count = scalar_of (loops, n), mean;

  adj_k_tree_fold_memory (loops, COMBINE_SUM, from, n, &mean);
  loops->op[ADJ_K_OP_DIV](&mean, &mean, &count, NULL, 1);
  return mean;
}

/* One row of x (and g), with the data of the passes over it. */
typedef struct
{
  const ClassLoops *loops;
  const AdjKView *x, *g, *w; /* along the normalised dims; g, w nullable */
  int64_t x_base, g_base;
  int n_fill;            /* number of elements set in the broadcast tiles */
  Scalar *mean, *rstd;   /* broadcast */
  Scalar *sum_h, *sum_p; /* broadcast: Σh / N, Σ(h x̂) / N */
} Row;

static void
read_x (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;

  adj_k_load (row->loops, tile, row->x, row->x_base, start, n);
}

static void
read_square (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;

  read_x (row, tile, start, n);
  row->loops->map[MAP_DEVIATE](tile, row->mean, 1, n);
}

static void
read_normal (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;

  read_x (row, tile, start, n);
  row->loops->op[ADJ_K_OP_SUB](tile, tile, row->mean, NULL, n);
  row->loops->op[ADJ_K_OP_MUL](tile, tile, row->rstd, NULL, n);
}

static void
read_h (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;
  Scalar w[LEAF];

  adj_k_load (row->loops, tile, row->g, row->g_base, start, n);
  if (!row->w)
    return;
  adj_k_load (row->loops, w, row->w, 0, start, n);
  row->loops->op[ADJ_K_OP_MUL](tile, tile, w, NULL, n);
}

static void
read_product (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;
  Scalar normal[LEAF];

  read_h (row, tile, start, n);
  read_normal (row, normal, start, n);
  row->loops->op[ADJ_K_OP_MUL](tile, tile, normal, NULL, n);
}

/* Sets all of @broadcast to the mean over the row of what @read gives. */
static void
broadcast_mean (Row *row, ReadRun read, Scalar *broadcast)
{
  const ClassLoops *loops = row->loops;
  int64_t n = adj_k_view_count (row->x);
  Scalar count = scalar_of (loops, (double) n), mean;

  adj_k_tree_fold (loops, COMBINE_SUM, read, row, n, &mean);
  loops->op[ADJ_K_OP_DIV](&mean, &mean, &count, NULL, 1);
  fill_tile (loops, broadcast, &mean, row->n_fill);
}

static bool
threads_pay (int64_t rows, int64_t n)
{
  return rows > 1 && rows * n > SERIAL;
}

/* --- forward -----------------------------------------------------------------------------------
 */

typedef struct
{
  AdjKView y, w, b;
  int64_t y_base;
  bool has_w, has_b;
} Affine;

static void
write_normal (const Row *row, const Affine *affine)
{
  const ClassLoops *loops = row->loops;
  int64_t length = adj_k_view_count (row->x);
  Scalar tile[LEAF], other[LEAF];

  for (int64_t start = 0; start < length; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, length - start);

      read_normal (row, tile, start, n);
      if (affine->has_w)
        {
          adj_k_load (loops, other, &affine->w, 0, start, n);
          loops->op[ADJ_K_OP_MUL](tile, tile, other, NULL, n);
        }
      if (affine->has_b)
        {
          adj_k_load (loops, other, &affine->b, 0, start, n);
          loops->op[ADJ_K_OP_ADD](tile, tile, other, NULL, n);
        }
      adj_k_store (loops, &affine->y, affine->y_base, start, tile, n);
    }
}

/* A row that is kept in a tile: the same sums and roundings. */
typedef struct
{
  const ClassLoops *loops;
  AdjKView x, y, mean, rstd, x_rows, y_rows;
  const void *w, *b; /* nullable: of the class */
  double eps;
  int n;
} Held;

static void
normalize_held (const Held *held, int64_t i)
{
  const ClassLoops *loops = held->loops;
  int64_t y_base = adj_k_view_offset (&held->y_rows, i);
  Scalar x_tile[HELD], y_tile[HELD], mean, rstd, eps = scalar_of (loops, held->eps);
  const void *x =
      adj_k_hold_row (loops, x_tile, &held->x, adj_k_view_offset (&held->x_rows, i), held->n);
  void *y = adj_k_begin_row (loops, y_tile, &held->y, y_base);

  mean = adj_k_norm_mean (loops, x, held->n);
  loops->rows.deviate (y, x, &mean, held->n);
  rstd = adj_k_norm_mean (loops, y, held->n);
  loops->op[ADJ_K_OP_ADD](&rstd, &rstd, &eps, NULL, 1);
  loops->op[ADJ_K_OP_RSQRT](&rstd, &rstd, NULL, NULL, 1);
  adj_k_store_one (loops, &held->mean, adj_k_view_offset (&held->mean, i), mean);
  adj_k_store_one (loops, &held->rstd, adj_k_view_offset (&held->rstd, i), rstd);
  if (held->w && held->b)
    loops->rows.scale_normal (y, x, &mean, &rstd, held->w, held->b, held->n);
  else
    {
      loops->rows.normalize (y, x, &mean, &rstd, held->n);
      if (held->w)
        loops->op[ADJ_K_OP_MUL](y, y, held->w, NULL, held->n);
      if (held->b)
        loops->op[ADJ_K_OP_ADD](y, y, held->b, NULL, held->n);
    }
  adj_k_store_row (loops, &held->y, y_base, y, held->n);
}

static void
normalize_held_rows (const AdjKLayerNorm *norm, const ClassLoops *loops, int64_t n_rows, int n)
{
  Scalar w_tile[HELD], b_tile[HELD];
  AdjKView w = norm->w ? adj_k_norm_column (norm->w, norm->n_dims) : norm->x;
  AdjKView b = norm->b ? adj_k_norm_column (norm->b, norm->n_dims) : norm->x;
  const Held held = {
    .loops = loops,
    .x = adj_k_norm_column (&norm->x, norm->n_dims),
    .y = adj_k_norm_column (&norm->y, norm->n_dims),
    .mean = adj_k_norm_row (&norm->mean, norm->n_dims),
    .rstd = adj_k_norm_row (&norm->rstd, norm->n_dims),
    .x_rows = adj_k_norm_row (&norm->x, norm->n_dims),
    .y_rows = adj_k_norm_row (&norm->y, norm->n_dims),
    .w = norm->w ? adj_k_hold_row (loops, w_tile, &w, 0, n) : NULL,
    .b = norm->b ? adj_k_hold_row (loops, b_tile, &b, 0, n) : NULL,
    .eps = norm->eps,
    .n = n,
  };

#pragma omp parallel for schedule(static) if (threads_pay(n_rows, n))
  for (int64_t i = 0; i < n_rows; i++)
    normalize_held (&held, i);
}

void
adj_k_layer_norm (const AdjKLayerNorm *norm)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (norm->x.type)];
  AdjKView x = adj_k_norm_column (&norm->x, norm->n_dims),
           rows = adj_k_norm_row (&norm->x, norm->n_dims);
  AdjKView y_rows = adj_k_norm_row (&norm->y, norm->n_dims);
  AdjKView mean = adj_k_norm_row (&norm->mean, norm->n_dims),
           rstd = adj_k_norm_row (&norm->rstd, norm->n_dims);
  int64_t n_rows = adj_k_view_count (&rows), n = adj_k_view_count (&x);

  if (n <= HELD)
    {
      normalize_held_rows (norm, loops, n_rows, (int) n);
      return;
    }

#pragma omp parallel for schedule(static) if (threads_pay(n_rows, n))
  for (int64_t i = 0; i < n_rows; i++)
    {
      Scalar tiles[2][LEAF];
      Row row = {
        .loops = loops,
        .x = &x,
        .x_base = adj_k_view_offset (&rows, i),
        .n_fill = (int) min_i64 (LEAF, n),
        .mean = tiles[0],
        .rstd = tiles[1],
      };
      Affine affine = {
        .y = adj_k_norm_column (&norm->y, norm->n_dims),
        .y_base = adj_k_view_offset (&y_rows, i),
        .has_w = norm->w,
        .has_b = norm->b,
      };
      Scalar eps = scalar_of (loops, norm->eps);

      if (norm->w)
        affine.w = adj_k_norm_column (norm->w, norm->n_dims);
      if (norm->b)
        affine.b = adj_k_norm_column (norm->b, norm->n_dims);
      broadcast_mean (&row, read_x, row.mean);
      broadcast_mean (&row, read_square, row.rstd);
      loops->op[ADJ_K_OP_ADD](row.rstd, row.rstd, &eps, NULL, 1);
      loops->op[ADJ_K_OP_RSQRT](row.rstd, row.rstd, NULL, NULL, 1);
      adj_k_store_one (loops, &mean, adj_k_view_offset (&mean, i), row.mean[0]);
      adj_k_store_one (loops, &rstd, adj_k_view_offset (&rstd, i), row.rstd[0]);
      eps = row.rstd[0];
      fill_tile (loops, row.rstd, &eps, row.n_fill);
      write_normal (&row, &affine);
    }
}

/* --- backward ----------------------------------------------------------------------------------
 */

static void
write_gx (const Row *row, const AdjKView *gx, int64_t base)
{
  const ClassLoops *loops = row->loops;
  int64_t length = adj_k_view_count (row->x);
  Scalar h[LEAF], normal[LEAF];

  for (int64_t start = 0; start < length; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, length - start);

      read_h (row, h, start, n);
      read_normal (row, normal, start, n);
      loops->op[ADJ_K_OP_MUL](normal, normal, row->sum_p, NULL, n);
      loops->op[ADJ_K_OP_ADD](normal, normal, row->sum_h, NULL, n);
      loops->op[ADJ_K_OP_SUB](h, h, normal, NULL, n);
      loops->op[ADJ_K_OP_MUL](h, h, row->rstd, NULL, n);
      adj_k_store (loops, gx, base, start, h, n);
    }
}

static void
backward_x (const AdjKLayerNormBackward *norm)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (norm->gx->type)];
  AdjKView x = adj_k_norm_column (&norm->x, norm->n_dims),
           x_rows = adj_k_norm_row (&norm->x, norm->n_dims);
  AdjKView g = adj_k_norm_column (&norm->g, norm->n_dims),
           g_rows = adj_k_norm_row (&norm->g, norm->n_dims);
  AdjKView gx = adj_k_norm_column (norm->gx, norm->n_dims),
           gx_rows = adj_k_norm_row (norm->gx, norm->n_dims);
  AdjKView mean = adj_k_norm_row (&norm->mean, norm->n_dims),
           rstd = adj_k_norm_row (&norm->rstd, norm->n_dims);
  int64_t n_rows = adj_k_view_count (&x_rows), n = adj_k_view_count (&x);

#pragma omp parallel for schedule(static) if (threads_pay(n_rows, n))
  for (int64_t i = 0; i < n_rows; i++)
    {
      Scalar tiles[4][LEAF];
      Row row = {
        .loops = loops,
        .x = &x,
        .g = &g,
        .w = norm->w,
        .x_base = adj_k_view_offset (&x_rows, i),
        .g_base = adj_k_view_offset (&g_rows, i),
        .n_fill = (int) min_i64 (LEAF, n),
        .mean = tiles[0],
        .rstd = tiles[1],
        .sum_h = tiles[2],
        .sum_p = tiles[3],
      };
      Scalar value = adj_k_load_one (loops, &mean, adj_k_view_offset (&mean, i));

      fill_tile (loops, row.mean, &value, row.n_fill);
      value = adj_k_load_one (loops, &rstd, adj_k_view_offset (&rstd, i));
      fill_tile (loops, row.rstd, &value, row.n_fill);
      broadcast_mean (&row, read_h, row.sum_h);
      broadcast_mean (&row, read_product, row.sum_p);
      write_gx (&row, &gx, adj_k_view_offset (&gx_rows, i));
    }
}

/* Columns @column … @column + @n - 1 of a row: in place if they are dense, else in @tile. */
static const void *
columns_of (
    const ClassLoops *loops, void *tile, const AdjKView *row, int64_t base, int64_t column, int n)
{
  if (row->rank == 1 && row->stride[0] == 1)
    return adj_k_hold_row (loops, tile, row, base + column, n);
  adj_k_load (loops, tile, row, base, column, n);
  return tile;
}

/* Σ_rows g x̂ for COLUMNS neighbouring columns, in the tree of a reduction over the rows. */
static void
backward_w_columns (const AdjKLayerNormBackward *norm, int64_t column, int n)
{
  const ClassLoops *loops = &adj_k_loops ()->klass[class_of (norm->gw->type)];
  AdjKView x = adj_k_norm_column (&norm->x, norm->n_dims),
           x_rows = adj_k_norm_row (&norm->x, norm->n_dims);
  AdjKView g = adj_k_norm_column (&norm->g, norm->n_dims),
           g_rows = adj_k_norm_row (&norm->g, norm->n_dims);
  AdjKView mean = adj_k_norm_row (&norm->mean, norm->n_dims),
           rstd = adj_k_norm_row (&norm->rstd, norm->n_dims);
  int64_t n_rows = adj_k_view_count (&x_rows);
  _Alignas(64) Scalar lanes[LANES * COLUMNS];
  Scalar row[COLUMNS], other[COLUMNS], center, rscale;
  Walk walk;
  Tree tree;

  adj_k_walk_begin (&walk, &x_rows);
  adj_k_walk_add (&walk, x_rows.stride);
  adj_k_walk_add (&walk, g_rows.stride);
  adj_k_walk_add (&walk, mean.stride);
  adj_k_walk_add (&walk, rstd.stride);
  adj_k_tree_begin (&tree, loops, COMBINE_SUM, n);
  for (int64_t i = 0; i < n_rows; i++, adj_k_walk_next (&walk))
    {
      if (i % LEAF == 0)
        adj_k_tree_begin_columns (&tree, lanes, min_i64 (LEAF, n_rows - i));

      loops->load[mean.type](&center, view_at (&mean, walk.offset[2]), 0, 1);
      loops->load[rstd.type](&rscale, view_at (&rstd, walk.offset[3]), 0, 1);
      loops->rows.add_normal (
          adj_k_tree_lane (&tree, lanes, i), columns_of (loops, row, &x, walk.offset[0], column, n),
          columns_of (loops, other, &g, walk.offset[1], column, n), &center, &rscale, n);

      if (i % LEAF == LEAF - 1 || i == n_rows - 1)
        adj_k_tree_push_columns (&tree, lanes, i % LEAF + 1);
    }
  adj_k_tree_end (&tree, row);
  adj_k_store (loops, norm->gw, 0, column, row, n);
}

static void
backward_b (const AdjKLayerNormBackward *norm)
{
  AdjKView gb = norm->g;
  int outer = norm->g.rank - norm->n_dims;

  gb.data = norm->gb->data;
  gb.type = norm->gb->type;
  for (int d = 0; d < outer; d++)
    gb.size[d] = 1;
  for (int d = 0; d < norm->n_dims; d++)
    gb.stride[outer + d] = norm->gb->stride[d];
  adj_k_reduce (ADJ_K_SUM, &gb, &norm->g, (UINT32_C (1) << outer) - 1);
}

void
adj_k_layer_norm_backward (const AdjKLayerNormBackward *norm)
{
  AdjKView x = adj_k_norm_column (&norm->x, norm->n_dims);

  if (norm->gx && adj_k_view_count (&x) <= HELD)
    {
      if (adj_k_norm_backward_rows (norm))
        return;
    }
  else if (norm->gx)
    backward_x (norm);
  if (norm->gw)
    {
      int64_t n = adj_k_view_count (norm->gw), rows = adj_k_view_count (&norm->mean);

#pragma omp parallel for schedule(static) if (threads_pay(n / COLUMNS, rows * COLUMNS))
      for (int64_t column = 0; column < n; column += COLUMNS)
        backward_w_columns (norm, column, (int) min_i64 (COLUMNS, n - column));
    }
  if (norm->gb)
    backward_b (norm);
}
