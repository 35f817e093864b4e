/* SPDX-License-Identifier: MIT */

/* Matrix products: blocks of C in a buffer of the class, panels of A and B packed so that the
 * matrix tile reads them in order.  An element is Σ over slices of STEP of k (each summed from
 * zero, in sequence), slices in sequence: blocks and panels may have any size, the bits stay. */

#include <omp.h>
#include <string.h>

#include "tile.h"

enum
{
  ROWS = 192,           /* of a block of C, at most; with every half a multiple of each gemm_rows */
  LEAST_ROWS = 48,      /* where there are few blocks */
  COL_BYTES = 2048,     /* of a row of a block of C; a multiple of every panel's */
  STEP = 128,           /* of k: fixed, results depend on it */
  PANEL = 64,           /* the most lines of a panel */
  SERIAL = 1024 * 1024, /* multiplications below which threads do not pay */
  BLOCKS_A_THREAD = 4
};

/* Rows of A or columns of B: `count` lines along k, which are packed side by side. */
typedef struct
{
  const AdjKView *view;
  int64_t offset; /* of the first line's first element */
  int64_t next;   /* stride to the next line */
  int64_t along;  /* stride along k */
  int64_t count;  /* lines, filled up with zeros to a multiple of the panel width */
} Lines;

typedef struct
{
  const AdjKGemm *gemm;
  const ClassLoops *loops;
  int64_t m, n, k;
  int64_t block_rows, block_cols;
  int batched; /* 1 when there is a batch dim */
} Product;

typedef struct
{
  _Alignas(64) char acc[ROWS * COL_BYTES];
  _Alignas(64) char a[ROWS * STEP * sizeof (double)];
  _Alignas(64) char b[COL_BYTES * STEP];
} Buffers;

/* A panel of another type, or of fewer lines than it has room for, first becomes one of the class:
 * @lines has all lines one after the other. */
static void
load_panel (const Product *product, void *lines, const Lines *from, int64_t first, int n, int64_t k)
{
  const ClassLoops *loops = product->loops;
  LoadLoop load = loops->load[from->view->type];

  for (int line = 0; line < n; line++)
    load ((char *) lines + (size_t) (line * k) * loops->size,
          view_at (from->view, from->offset + (first + line) * from->next), from->along, (int) k);
}

/* Panels of @width lines each, one after the other; in a panel, @width elements for every k. */
static void
pack (const Product *product, char *dst, const Lines *lines, int width, int64_t k)
{
  const ClassLoops *loops = product->loops;
  _Alignas(64) double between[PANEL * STEP];
  size_t size = loops->size;

  for (int64_t first = 0; first < lines->count; first += width, dst += (size_t) (width * k) * size)
    {
      int n = (int) min_i64 (width, lines->count - first);

      if (n == width && lines->view->type == loops->type)
        {
          loops->pack (dst, width, view_at (lines->view, lines->offset + first * lines->next),
                       lines->next, lines->along, k);
          continue;
        }
      load_panel (product, between, lines, first, n, k);
      memset ((char *) between + (size_t) (n * k) * size, 0, (size_t) ((width - n) * k) * size);
      loops->pack (dst, width, between, k, 1, k);
    }
}

/* row = alpha · row + beta · row of D */
static void
finish_row (const Product *product, void *row, int64_t d_offset, int n)
{
  const AdjKGemm *gemm = product->gemm;
  const ClassLoops *loops = product->loops;
  AdjKType type = loops->type == ADJ_K_I64 ? ADJ_K_I64 : ADJ_K_F64;
  Scalar alpha = { .f64 = gemm->alpha }, beta = { .f64 = gemm->beta };
  Scalar factor[COL_BYTES / sizeof (float)], other[COL_BYTES / sizeof (float)];

  if (type == ADJ_K_I64)
    {
      alpha.i64 = (int64_t) gemm->alpha;
      beta.i64 = (int64_t) gemm->beta;
    }
  if (gemm->alpha != 1)
    {
      loops->load[type](factor, &alpha, 0, n);
      loops->op[ADJ_K_OP_MUL](row, row, factor, NULL, n);
    }
  if (gemm->d && gemm->beta != 0)
    {
      loops->load[gemm->d->type](other, view_at (gemm->d, d_offset),
                                 gemm->d->stride[product->batched + 1], n);
      loops->load[type](factor, &beta, 0, n);
      loops->op[ADJ_K_OP_MUL](other, other, factor, NULL, n);
      loops->op[ADJ_K_OP_ADD](row, row, other, NULL, n);
    }
}

/* Offset of element [batch, i, j] of a matrix or batch of matrices. */
static int64_t
offset_of (const Product *product, const AdjKView *view, int64_t batch, int64_t i, int64_t j)
{
  const int64_t *stride = view->stride + product->batched;

  return (product->batched ? batch * view->stride[0] : 0) + i * stride[0] + j * stride[1];
}

/* @ld: of the buffer of C */
static void
multiply_slice (
    const Product *product, Buffers *buffers, int64_t ld, const Lines *a, const Lines *b, int64_t k)
{
  const ClassLoops *loops = product->loops;
  int rows = loops->gemm_rows, cols = loops->gemm_cols;

  pack (product, buffers->a, a, rows, k);
  pack (product, buffers->b, b, cols, k);
  for (int64_t j = 0; j < b->count; j += cols)
    for (int64_t i = 0; i < a->count; i += rows)
      loops->gemm[min_i64 (rows, a->count - i)](buffers->acc + (size_t) (i * ld + j) * loops->size,
                                                ld, buffers->a + (size_t) (i * k) * loops->size,
                                                buffers->b + (size_t) (j * k) * loops->size, k);
}

static int64_t
round_up (int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

/* The block of C whose first element is [batch, i, j]. */
static void
multiply_block (const Product *product, int64_t batch, int64_t i, int64_t j)
{
  const AdjKGemm *gemm = product->gemm;
  const ClassLoops *loops = product->loops;
  const int64_t *a_stride = gemm->a.stride + product->batched;
  const int64_t *b_stride = gemm->b.stride + product->batched;
  int64_t m = min_i64 (product->block_rows, product->m - i),
          n = min_i64 (product->block_cols, product->n - j);
  int64_t ld = round_up (n, loops->gemm_cols);
  Buffers buffers;

  memset (buffers.acc, 0, (size_t) (round_up (m, loops->gemm_rows) * ld) * loops->size);
  for (int64_t p = 0; p < product->k; p += STEP)
    {
      Lines a = { &gemm->a, offset_of (product, &gemm->a, batch, i, p), a_stride[0], a_stride[1],
                  m };
      Lines b = { &gemm->b, offset_of (product, &gemm->b, batch, p, j), b_stride[1], b_stride[0],
                  n };

      multiply_slice (product, &buffers, ld, &a, &b, min_i64 (STEP, product->k - p));
    }

  for (int64_t r = 0; r < m; r++)
    {
      void *row = buffers.acc + (size_t) (r * ld) * loops->size;
      int64_t d = gemm->d ? offset_of (product, gemm->d, batch, i + r, j) : 0;

      finish_row (product, row, d, (int) n);
      loops->store[gemm->c.type](view_at (&gemm->c, offset_of (product, &gemm->c, batch, i + r, j)),
                                 gemm->c.stride[product->batched + 1], row, (int) n);
    }
}

void
adj_k_gemm (const AdjKGemm *gemm)
{
  int batched = gemm->c.rank == 3;
  Product product = {
    .gemm = gemm,
    .loops = &adj_k_loops ()->klass[class_of (gemm->c.type)],
    .m = gemm->c.size[batched],
    .n = gemm->c.size[batched + 1],
    .k = gemm->a.size[batched + 1],
    .block_rows = ROWS,
    .batched = batched,
  };
  int64_t batches = batched ? gemm->c.size[0] : 1;
  int64_t cols, rows;
  double work = (double) batches * (double) product.m * (double) product.n * (double) product.k;
  bool threads = work > SERIAL && !omp_in_parallel ();

  product.block_cols = COL_BYTES / (int64_t) product.loops->size;
  cols = (product.n + product.block_cols - 1) / product.block_cols;
  rows = (product.m + ROWS - 1) / ROWS;
  while (threads && product.block_rows > LEAST_ROWS &&
         batches * rows * cols < BLOCKS_A_THREAD * omp_get_max_threads ())
    {
      product.block_rows /= 2;
      rows = (product.m + product.block_rows - 1) / product.block_rows;
    }

  if (!threads)
    for (int64_t block = 0; block < batches * rows * cols; block++)
      multiply_block (&product, block / (rows * cols), block / cols % rows * product.block_rows,
                      block % cols * product.block_cols);
  else
#pragma omp parallel for schedule(dynamic)
    for (int64_t block = 0; block < batches * rows * cols; block++)
      multiply_block (&product, block / (rows * cols), block / cols % rows * product.block_rows,
                      block % cols * product.block_cols);
}
