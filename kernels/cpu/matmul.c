/* SPDX-License-Identifier: MIT */

/* Matrix products: blocks of C in a buffer of the class, panels of A and B packed so that the
 * matrix tile reads them in order.  An element is Σ over slices of STEP of k (each summed from
 * zero, in sequence), slices in sequence: blocks and panels may have any size, the bits stay. */

#include <string.h>

#include "tile.h"

enum
{
  ROWS = 96,         /* of a block of C; a multiple of every gemm_rows */
  COLS = 256,        /* of a block of C; a multiple of every gemm_cols */
  STEP = 128,        /* of k: fixed, results depend on it */
  SERIAL = 64 * 1024 /* multiplications below which threads do not pay */
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
  int batched; /* 1 when there is a batch dim */
} Product;

typedef struct
{
  _Alignas(64) double acc[ROWS * COLS];
  _Alignas(64) double a[ROWS * STEP];
  _Alignas(64) double b[COLS * STEP];
} Buffers;

#define SCATTER(C)                                                                                 \
  {                                                                                                \
    C *d = dst;                                                                                    \
    const C *s = src;                                                                              \
                                                                                                   \
    for (int64_t i = 0; i < n; i++)                                                                \
      d[i * stride] = s[i];                                                                        \
  }

static void
scatter (void *dst, int64_t stride, const void *src, int64_t n, size_t size)
{
  if (size == sizeof (uint32_t))
    SCATTER (uint32_t)
  else
    SCATTER (uint64_t)
}

/* Panels of @width lines each, one after the other; in a panel, @width elements for every k. */
static void
pack (const Product *product, void *dst, const Lines *lines, int width, int64_t k)
{
  const ClassLoops *loops = product->loops;
  LoadLoop load = loops->load[lines->view->type];
  int64_t padded = (lines->count + width - 1) / width * width;
  Scalar run[STEP > COLS ? STEP : COLS];

  if (lines->next == 1 || lines->along != 1)
    for (int64_t first = 0; first < padded; first += width)
      for (int64_t p = 0; p < k; p++, dst = (char *) dst + (size_t) width * loops->size)
        {
          int n = (int) min_i64 (width, lines->count - first);
          int64_t offset = lines->offset + first * lines->next + p * lines->along;

          load (dst, view_at (lines->view, offset), lines->next, n);
          memset ((char *) dst + (size_t) n * loops->size, 0, (size_t) (width - n) * loops->size);
        }
  else
    for (int64_t line = 0; line < padded; line++)
      {
        char *first =
            (char *) dst + (size_t) (line / width * width * k + line % width) * loops->size;

        if (line < lines->count)
          load (run, view_at (lines->view, lines->offset + line * lines->next), 1, (int) k);
        else
          memset (run, 0, (size_t) k * loops->size);
        scatter (first, width, run, k, loops->size);
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
  Scalar factor[COLS], other[COLS];

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

static void
multiply_slice (const Product *product, Buffers *buffers, const Lines *a, const Lines *b, int64_t k)
{
  const ClassLoops *loops = product->loops;
  int rows = loops->gemm_rows, cols = loops->gemm_cols;

  pack (product, buffers->a, a, rows, k);
  pack (product, buffers->b, b, cols, k);
  for (int64_t j = 0; j < b->count; j += cols)
    for (int64_t i = 0; i < a->count; i += rows)
      loops->gemm ((char *) buffers->acc + (size_t) (i * COLS + j) * loops->size, COLS,
                   (char *) buffers->a + (size_t) (i * k) * loops->size,
                   (char *) buffers->b + (size_t) (j * k) * loops->size, k);
}

/* The block of C whose first element is [batch, i, j]. */
static void
multiply_block (const Product *product, int64_t batch, int64_t i, int64_t j)
{
  const AdjKGemm *gemm = product->gemm;
  const int64_t *a_stride = gemm->a.stride + product->batched;
  const int64_t *b_stride = gemm->b.stride + product->batched;
  int64_t m = min_i64 (ROWS, product->m - i), n = min_i64 (COLS, product->n - j);
  Buffers buffers;
  int64_t padded =
      (m + product->loops->gemm_rows - 1) / product->loops->gemm_rows * product->loops->gemm_rows;

  memset (buffers.acc, 0, (size_t) (padded * COLS) * product->loops->size);
  for (int64_t p = 0; p < product->k; p += STEP)
    {
      Lines a = { &gemm->a, offset_of (product, &gemm->a, batch, i, p), a_stride[0], a_stride[1],
                  m };
      Lines b = { &gemm->b, offset_of (product, &gemm->b, batch, p, j), b_stride[1], b_stride[0],
                  n };

      multiply_slice (product, &buffers, &a, &b, min_i64 (STEP, product->k - p));
    }

  for (int64_t r = 0; r < m; r++)
    {
      void *row = (char *) buffers.acc + (size_t) (r * COLS) * product->loops->size;
      int64_t d = gemm->d ? offset_of (product, gemm->d, batch, i + r, j) : 0;

      finish_row (product, row, d, (int) n);
      product->loops->store[gemm->c.type](
          view_at (&gemm->c, offset_of (product, &gemm->c, batch, i + r, j)),
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
    .batched = batched,
  };
  int64_t batches = batched ? gemm->c.size[0] : 1;
  int64_t rows = (product.m + ROWS - 1) / ROWS, cols = (product.n + COLS - 1) / COLS;
  double work = (double) batches * (double) product.m * (double) product.n * (double) product.k;

#pragma omp parallel for schedule(static) if (work > SERIAL)
  for (int64_t block = 0; block < batches * rows * cols; block++)
    multiply_block (&product, block / (rows * cols), block / cols % rows * ROWS,
                    block % cols * COLS);
}
