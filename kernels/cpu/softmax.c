/* SPDX-License-Identifier: MIT */

/* Softmax and log-softmax over one dim, and their gradients.  A row is read once for each of its
 * numbers (maximum, sum) and once more for the result, so no buffer of its length is needed; a row
 * of at most HELD elements is kept in a tile, and each element is computed once. */

#include <string.h>

#include "tree.h"

enum
{
  SERIAL = 16 * 1024 /* elements below which threads do not pay */
};

/* One row: the elements of up to three views along one dim. */
typedef struct
{
  const ClassLoops *loops;
  const AdjKView *in[2]; /* x; or g and y */
  const AdjKView *out;
  int64_t in_base[2], out_base;
  int64_t n;
  Scalar broadcast[LEAF]; /* operand of the current pass: to be subtracted or multiplied by */
} Row;

static void
row_read (const Row *row, int input, void *tile, int64_t start, int n)
{
  adj_k_load (row->loops, tile, row->in[input], row->in_base[input], start, n);
}

static void
row_broadcast (Row *row, const Scalar *value)
{
  fill_tile (row->loops, row->broadcast, value, (int) min_i64 (LEAF, row->n));
}

static void
read_plain (const void *source, void *tile, int64_t start, int n)
{
  row_read (source, 0, tile, start, n);
}

/* --- forward -----------------------------------------------------------------------------------
 */

/* e^(x - maximum) */
static void
read_exp (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;

  row_read (row, 0, tile, start, n);
  row->loops->op[ADJ_K_OP_SUB](tile, tile, row->broadcast, NULL, n);
  row->loops->op[ADJ_K_OP_EXP](tile, tile, NULL, NULL, n);
}

/* The same for a row in a tile: e^x is computed once. */
static void
forward_held (const Row *row, bool log)
{
  const ClassLoops *loops = row->loops;
  int n = (int) row->n;
  Scalar in_tile[HELD], out_tile[HELD], top, sum;
  const void *x = adj_k_hold_row (loops, in_tile, row->in[0], row->in_base[0], n);
  void *y = adj_k_begin_row (loops, out_tile, row->out, row->out_base);

  adj_k_tree_fold_memory (loops, COMBINE_MAX, x, n, &top);
  loops->rows.subtract (y, x, &top, n);
  if (log)
    {
      loops->op[ADJ_K_OP_EXP](in_tile, y, NULL, NULL, n);
      adj_k_tree_fold_memory (loops, COMBINE_SUM, in_tile, n, &sum);
      loops->op[ADJ_K_OP_LOG](&sum, &sum, NULL, NULL, 1);
      loops->rows.subtract (y, y, &sum, n);
    }
  else
    {
      loops->op[ADJ_K_OP_EXP](y, y, NULL, NULL, n);
      adj_k_tree_fold_memory (loops, COMBINE_SUM, y, n, &sum);
      loops->rows.divide (y, y, &sum, n);
    }
  adj_k_store_row (loops, row->out, row->out_base, y, n);
}

static void
forward_row (Row *row, bool log)
{
  const ClassLoops *loops = row->loops;
  Scalar top, sum, tile[LEAF], other[LEAF];

  adj_k_tree_fold (loops, COMBINE_MAX, read_plain, row, row->n, &top);
  row_broadcast (row, &top);
  adj_k_tree_fold (loops, COMBINE_SUM, read_exp, row, row->n, &sum);
  if (log)
    loops->op[ADJ_K_OP_LOG](&sum, &sum, NULL, NULL, 1);
  fill_tile (loops, other, &sum, (int) min_i64 (LEAF, row->n));

  for (int64_t start = 0; start < row->n; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, row->n - start);

      if (log)
        {
          row_read (row, 0, tile, start, n);
          loops->op[ADJ_K_OP_SUB](tile, tile, row->broadcast, NULL, n);
          loops->op[ADJ_K_OP_SUB](tile, tile, other, NULL, n);
        }
      else
        {
          read_exp (row, tile, start, n);
          loops->op[ADJ_K_OP_DIV](tile, tile, other, NULL, n);
        }
      adj_k_store (loops, row->out, row->out_base, start, tile, n);
    }
}

static void
softmax_row (Row *row)
{
  if (row->n <= HELD)
    forward_held (row, false);
  else
    forward_row (row, false);
}

static void
log_softmax_row (Row *row)
{
  if (row->n <= HELD)
    forward_held (row, true);
  else
    forward_row (row, true);
}

/* --- backward ----------------------------------------------------------------------------------
 */

/* g · y */
static void
read_product (const void *source, void *tile, int64_t start, int n)
{
  const Row *row = source;
  Scalar y[LEAF];

  row_read (row, 0, tile, start, n);
  row_read (row, 1, y, start, n);
  row->loops->op[ADJ_K_OP_MUL](tile, tile, y, NULL, n);
}

static void
backward_held (const Row *row, bool log)
{
  const ClassLoops *loops = row->loops;
  int n = (int) row->n;
  Scalar g_tile[HELD], y_tile[HELD], out_tile[HELD], sum;
  const void *g = adj_k_hold_row (loops, g_tile, row->in[0], row->in_base[0], n);
  const void *y = adj_k_hold_row (loops, y_tile, row->in[1], row->in_base[1], n);
  void *out = adj_k_begin_row (loops, out_tile, row->out, row->out_base);

  if (log)
    {
      adj_k_tree_fold_memory (loops, COMBINE_SUM, g, n, &sum);
      loops->op[ADJ_K_OP_EXP](y_tile, y, NULL, NULL, n);
      loops->rows.subtract_product (out, g, y_tile, &sum, n);
    }
  else
    {
      loops->op[ADJ_K_OP_MUL](out, g, y, NULL, n);
      adj_k_tree_fold_memory (loops, COMBINE_SUM, out, n, &sum);
      loops->rows.subtract_product (out, out, y, &sum, n);
    }
  adj_k_store_row (loops, row->out, row->out_base, out, n);
}

static void
backward_row (Row *row, bool log)
{
  const ClassLoops *loops = row->loops;
  Scalar sum, tile[LEAF], y[LEAF];

  adj_k_tree_fold (loops, COMBINE_SUM, log ? read_plain : read_product, row, row->n, &sum);
  row_broadcast (row, &sum);

  for (int64_t start = 0; start < row->n; start += LEAF)
    {
      int n = (int) min_i64 (LEAF, row->n - start);

      if (log)
        read_plain (row, tile, start, n);
      else
        read_product (row, tile, start, n);
      row_read (row, 1, y, start, n);
      if (log)
        loops->op[ADJ_K_OP_EXP](y, y, NULL, NULL, n);
      loops->op[ADJ_K_OP_MUL](y, y, row->broadcast, NULL, n);
      loops->op[ADJ_K_OP_SUB](tile, tile, y, NULL, n);
      adj_k_store (loops, row->out, row->out_base, start, tile, n);
    }
}

static void
softmax_backward_row (Row *row)
{
  if (row->n <= HELD)
    backward_held (row, false);
  else
    backward_row (row, false);
}

static void
log_softmax_backward_row (Row *row)
{
  if (row->n <= HELD)
    backward_held (row, true);
  else
    backward_row (row, true);
}

/* --- rows of views -----------------------------------------------------------------------------
 */

/* Runs @each for all rows along @dim; @y is NULL when there is one input. */
static void
for_each_row (
    const AdjKView *out, const AdjKView *x, const AdjKView *y, int dim, void (*each) (Row *row))
{
  uint32_t dims = x->rank > 0 ? UINT32_C (1) << dim : 0;
  AdjKView to = adj_k_view_keep (out, dims), to_kept = adj_k_view_keep (out, ~dims);
  AdjKView from[2] = { adj_k_view_keep (x, dims), adj_k_view_keep (y ? y : x, dims) };
  AdjKView from_kept[2] = { adj_k_view_keep (x, ~dims), adj_k_view_keep (y ? y : x, ~dims) };
  int64_t rows = adj_k_view_count (&to_kept), n = adj_k_view_count (&to);
  AdjKClass klass = class_of (x->type) == ADJ_K_CLASS_F64 ? ADJ_K_CLASS_F64 : class_of (out->type);
  const ClassLoops *loops = &adj_k_loops ()->klass[klass];

#pragma omp parallel for schedule(static) if (rows > 1 && rows * n > SERIAL)
  for (int64_t i = 0; i < rows; i++)
    {
      Row row;

      row.loops = loops;
      row.n = n;
      row.out = &to;
      row.out_base = adj_k_view_offset (&to_kept, i);
      for (int v = 0; v < 2; v++)
        {
          row.in[v] = &from[v];
          row.in_base[v] = adj_k_view_offset (&from_kept[v], i);
        }
      each (&row);
    }
}

void
adj_k_softmax (const AdjKView *out, const AdjKView *in, int dim)
{
  for_each_row (out, in, NULL, dim, softmax_row);
}

void
adj_k_log_softmax (const AdjKView *out, const AdjKView *in, int dim)
{
  for_each_row (out, in, NULL, dim, log_softmax_row);
}

void
adj_k_softmax_backward (const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim)
{
  for_each_row (gx, g, y, dim, softmax_backward_row);
}

void
adj_k_log_softmax_backward (const AdjKView *gx, const AdjKView *g, const AdjKView *y, int dim)
{
  for_each_row (gx, g, y, dim, log_softmax_backward_row);
}
