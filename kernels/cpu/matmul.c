/* SPDX-License-Identifier: MIT */

/* Matrix products: blocks of C, each a sum over slices of k (each slice from zero, in sequence, by
 * fused multiply-adds), so that blocks of any size give the same bits.  Sums are accumulated in C
 * itself if it is dense and of the class; B is packed once for many rows of A. */

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"

enum
{
  ROWS = 192, /* rows of A that are packed together; also its halves are multiples of gemm_rows */
  MOST_ROWS = 8 * ROWS, /* rows of a block of C, for which B is packed once */
  LEAST_ROWS = 48,      /* rows of a block if there are few blocks */
  COL_BYTES = 2048,     /* bytes of a row of a block of C; a multiple of every panel's */
  MOST_SLICES = 32,     /* slices of k for which B is packed at once */
  CACHE_LINE = 64,
  PANEL = 64,           /* the most lines of a panel */
  SERIAL = 1024 * 1024, /* multiplications below which threads do not pay */
  BLOCKS_A_THREAD = 4,
  PAIRS_PAY = 32 * 1024 /* multiplications above which pairs do */
};

typedef struct
{
  const AdjKGemm *gemm;
  const ClassLoops *loops;
  const PairLoops *pairs; /* (nullable): if both factors are bf16 */
  int64_t m, n, k;
  int64_t block_rows, block_cols;
  bool direct; /* sums are accumulated in C */
  int batched; /* 1 when there is a batch dim */
} Product;

/* The sums of a block of C: rows of @ld elements; @exact: nothing beyond them may be written. */
typedef struct
{
  char *at;
  int64_t ld;
  bool exact;
} Sums;

typedef struct
{
  _Alignas(64) char acc[ROWS * COL_BYTES];
  _Alignas(64) char edge[GEMM_MAX_ROWS * PANEL * sizeof (double)];
  _Alignas(64) char a[ROWS * GEMM_STEP * sizeof (double)];
  _Alignas(64) char b[COL_BYTES * GEMM_STEP];
} Buffers;

/* Packs @n lines of another type, or fewer than a panel holds. */
static void
pack_few (const ClassLoops *loops,
          char *dst,
          const PanelLines *from,
          int64_t first,
          int n,
          int width,
          int64_t k)
{
  _Alignas(64) double between[PANEL * GEMM_STEP];
  LoadLoop load = loops->load[from->view->type];
  const char *src = view_at (from->view, from->offset + first * from->next);
  size_t size = loops->size, type_size = adj_k_type_get_size (from->view->type);

  if (from->next == 1)
    {
      if (n < width)
        memset (dst, 0, (size_t) (width * k) * size);
      for (int64_t p = 0; p < k; p++)
        load (dst + (size_t) (p * width) * size, src + p * from->along * (int64_t) type_size, 1, n);
      return;
    }
  for (int line = 0; line < n; line++)
    load ((char *) between + (size_t) (line * k) * size,
          src + line * from->next * (int64_t) type_size, from->along, (int) k);
  memset ((char *) between + (size_t) (n * k) * size, 0, (size_t) ((width - n) * k) * size);
  loops->pack (dst, width, between, k, 1, k);
}

void
adj_k_pack_panels (
    const ClassLoops *loops, void *dst, const PanelLines *lines, int width, int64_t k)
{
  char *to = dst;

  for (int64_t first = 0; first < lines->count;
       first += width, to += (size_t) (width * k) * loops->size)
    {
      int n = (int) min_i64 (width, lines->count - first);

      if (n == width && lines->view->type == loops->type)
        loops->pack (to, width, view_at (lines->view, lines->offset + first * lines->next),
                     lines->next, lines->along, k);
      else
        pack_few (loops, to, lines, first, n, width, k);
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

static int64_t
round_up (int64_t n, int64_t to)
{
  return (n + to - 1) / to * to;
}

/* Adds the product of two panels to @rows × @cols elements at @to. */
static void
add_tile (const Product *product,
          const GemmLoop *gemm,
          char *edge,
          char *to,
          int64_t ld,
          int rows,
          int cols,
          const void *a,
          const void *b,
          int64_t k)
{
  const ClassLoops *loops = product->loops;
  size_t size = loops->size, width = (size_t) loops->gemm_cols;

  memset (edge, 0, (size_t) loops->gemm_rows * width * size);
  gemm[rows](edge, loops->gemm_cols, a, b, k);
  for (int r = 0; r < rows; r++)
    loops->reduce[COMBINE_SUM].join (to + (size_t) (r * ld) * size,
                                     edge + (size_t) r * width * size, cols);
}

/* @left, @right: panels of @m lines of A and @n of B; @edge: room for a tile */
static void
multiply_panels (const Product *product,
                 const GemmLoop *gemm,
                 char *edge,
                 const Sums *sums,
                 const char *left,
                 const char *right,
                 int64_t m,
                 int64_t n,
                 int64_t k)
{
  const ClassLoops *loops = product->loops;
  int most_rows = loops->gemm_rows, most_cols = loops->gemm_cols;

  for (int64_t j = 0; j < n; j += most_cols)
    for (int64_t i = 0; i < m; i += most_rows)
      {
        int rows = (int) min_i64 (most_rows, m - i), cols = (int) min_i64 (most_cols, n - j);
        char *to = sums->at + (size_t) (i * sums->ld + j) * loops->size;
        const void *a = left + (size_t) (i * k) * loops->size;
        const void *b = right + (size_t) (j * k) * loops->size;

        if (sums->exact && (rows < most_rows || cols < most_cols))
          add_tile (product, gemm, edge, to, sums->ld, rows, cols, a, b, k);
        else
          gemm[rows](to, sums->ld, a, b, k);
      }
}

static void
clear_sums (const Product *product, const Sums *sums, int64_t m, int64_t n)
{
  for (int64_t r = 0; r < m; r++)
    memset (sums->at + (size_t) (r * sums->ld) * product->loops->size, 0,
            (size_t) n * product->loops->size);
}

/* A packed part of B for some columns of C: panels of the slices of k from @first on. */
typedef struct
{
  char *at;
  size_t of_slice;        /* bytes of a slice */
  int least[MOST_SLICES]; /* for pairs: the least exponent of each slice */
  int64_t batch, j, n;
  int64_t first, k;
} Right;

static PanelLines
lines_of (const Product *product, const Right *right, int64_t p)
{
  const AdjKView *b = &product->gemm->b;
  const int64_t *stride = b->stride + product->batched;

  return (PanelLines){ b, offset_of (product, b, right->batch, p, right->j), stride[1], stride[0],
                       right->n };
}

static void
pack_right (const Product *product, Right *right)
{
  const ClassLoops *loops = product->loops;

  for (int64_t p = 0; p < right->k; p += GEMM_STEP)
    {
      PanelLines b = lines_of (product, right, right->first + p);
      char *to = right->at + (size_t) (p / GEMM_STEP) * right->of_slice;
      int64_t k = min_i64 (GEMM_STEP, right->k - p);

      if (product->pairs)
        right->least[p / GEMM_STEP] = product->pairs->pack (to, loops->gemm_cols, &b, k);
      else
        adj_k_pack_panels (loops, to, &b, loops->gemm_cols, k);
    }
}

/* Adds the products of the slice of k at @p to rows of C from @i on; by pairs if the bits are the
 * same, which needs that no sum is subnormal. */
static void
multiply_slice (const Product *product,
                Buffers *buffers,
                const Right *right,
                const Sums *sums,
                int64_t i,
                int64_t m,
                int64_t p)
{
  const AdjKView *left = &product->gemm->a;
  const ClassLoops *loops = product->loops;
  const int64_t *stride = left->stride + product->batched;
  int64_t slice = (p - right->first) / GEMM_STEP, k = min_i64 (GEMM_STEP, product->k - p);
  const char *panels = right->at + (size_t) slice * right->of_slice;
  PanelLines a = { left, offset_of (product, left, right->batch, i, p), stride[0], stride[1], m };
  PanelLines b = lines_of (product, right, p);

  if (product->pairs &&
      right->least[slice] + product->pairs->pack (buffers->a, loops->gemm_rows, &a, k) >=
          PAIRS_LEAST)
    {
      multiply_panels (product, product->pairs->gemm, buffers->edge, sums, buffers->a, panels, m,
                       right->n, (k + 1) / 2);
      return;
    }
  adj_k_pack_panels (loops, buffers->a, &a, loops->gemm_rows, k);
  if (product->pairs)
    adj_k_pack_panels (loops, buffers->b, &b, loops->gemm_cols, k);
  multiply_panels (product, loops->gemm, buffers->edge, sums, buffers->a,
                   product->pairs ? buffers->b : panels, m, right->n, k);
}

/* Finishes the sums of @m rows of C from row @i on. */
static void
finish_rows (const Product *product, const Right *right, const Sums *sums, int64_t i, int64_t m)
{
  const AdjKGemm *gemm = product->gemm;
  const ClassLoops *loops = product->loops;

  for (int64_t r = 0; r < m; r++)
    {
      void *row = sums->at + (size_t) (r * sums->ld) * loops->size;
      int64_t d = gemm->d ? offset_of (product, gemm->d, right->batch, i + r, right->j) : 0;

      finish_row (product, row, d, (int) right->n);
      if (!product->direct)
        loops->store[gemm->c.type](
            view_at (&gemm->c, offset_of (product, &gemm->c, right->batch, i + r, right->j)),
            gemm->c.stride[product->batched + 1], row, (int) right->n);
    }
}

/* Adds all slices of @right to rows of C whose sums stay in the cache. */
static void
multiply_rows (const Product *product, Buffers *buffers, const Right *right, int64_t i, int64_t m)
{
  const AdjKView *c = &product->gemm->c;
  const ClassLoops *loops = product->loops;
  Sums sums = { buffers->acc, round_up (right->n, loops->gemm_cols), false };

  if (product->direct)
    sums = (Sums){ view_at (c, offset_of (product, c, right->batch, i, right->j)),
                   c->stride[product->batched], true };
  if (right->first == 0)
    clear_sums (product, &sums, sums.exact ? m : round_up (m, loops->gemm_rows),
                sums.exact ? right->n : sums.ld);
  for (int64_t p = right->first; p < right->first + right->k; p += GEMM_STEP)
    multiply_slice (product, buffers, right, &sums, i, m, p);
  if (right->first + right->k == product->k)
    finish_rows (product, right, &sums, i, m);
}

/* Adds to @m rows of C, a part of rows at a time, as many slices of k as @right holds. */
static void
multiply_part (
    const Product *product, Buffers *buffers, Right *right, int64_t i, int64_t m, int64_t slices)
{
  right->first = 0;
  do
    {
      right->k = min_i64 (slices * GEMM_STEP, product->k - right->first);
      pack_right (product, right);
      for (int64_t r = 0; r < m; r += ROWS)
        multiply_rows (product, buffers, right, i + r, min_i64 (ROWS, m - r));
      right->first += right->k;
    }
  while (right->first < product->k);
}

/* Computes the block of C at [batch, i, j].  B is packed once for all of its rows, unless it is too
 * long for that: then, with sums outside of C, it is packed again for each part of the rows. */
static void
multiply_block (const Product *product, int64_t batch, int64_t i, int64_t j)
{
  const ClassLoops *loops = product->loops;
  int64_t m = min_i64 (product->block_rows, product->m - i),
          n = min_i64 (product->block_cols, product->n - j);
  int64_t slices = (product->k + GEMM_STEP - 1) / GEMM_STEP;
  Buffers buffers;
  Right right = { .at = buffers.b, .batch = batch, .j = j, .n = n };
  char *own = NULL;

  right.of_slice = (size_t) (round_up (n, loops->gemm_cols) * GEMM_STEP) *
                   (product->pairs ? sizeof (uint16_t) : loops->size);
  if (slices > 1 && slices <= MOST_SLICES && m > ROWS)
    own = aligned_alloc (CACHE_LINE, right.of_slice * (size_t) slices);
  if (own)
    right.at = own;
  else
    slices = 1;
  if (own || product->direct || product->k <= GEMM_STEP)
    multiply_part (product, &buffers, &right, i, m, slices);
  else
    for (int64_t r = 0; r < m; r += ROWS)
      multiply_part (product, &buffers, &right, i + r, min_i64 (ROWS, m - r), 1);
  free (own);
}

/* Whether sums can be accumulated in C: it is of the class, its rows are dense, and D is another
 * matrix. */
static bool
is_direct (const AdjKGemm *gemm, const ClassLoops *loops)
{
  int row = gemm->c.rank - 2;

  return gemm->c.type == loops->type &&
         (gemm->c.stride[row + 1] == 1 || gemm->c.size[row + 1] == 1) &&
         (gemm->c.stride[row] >= gemm->c.size[row + 1] || gemm->c.size[row] == 1) &&
         !(gemm->d && gemm->beta != 0 && gemm->d->data == gemm->c.data);
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
  int64_t cols, rows;
  double work = (double) batches * (double) product.m * (double) product.n * (double) product.k;
  bool threads = work > SERIAL && !omp_in_parallel () && omp_get_max_threads () > 1;

  if (gemm->a.type == ADJ_K_BF16 && gemm->b.type == ADJ_K_BF16 && work > PAIRS_PAY &&
      class_of (gemm->c.type) == ADJ_K_CLASS_F32)
    product.pairs = adj_k_pair_loops ();
  product.direct = is_direct (gemm, product.loops);
  product.block_rows = MOST_ROWS;
  product.block_cols = COL_BYTES / (int64_t) product.loops->size;
  cols = (product.n + product.block_cols - 1) / product.block_cols;
  rows = (product.m + product.block_rows - 1) / product.block_rows;
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
