/* SPDX-License-Identifier: MIT */

/* Matrix products: blocks of C, each Σ over slices of k (a slice from zero, in sequence, by fused
 * multiply-add), so that blocks of any size give the same bits.  Sums stand in C itself where it is
 * dense and of the class; B is packed once for many rows of A. */

#include <omp.h>
#include <string.h>

#include "pairs.h"

enum
{
  ROWS = 192,           /* of A that are packed together; with every half a multiple of gemm_rows */
  MOST_ROWS = 8 * ROWS, /* of a block of C, for which B is packed once */
  LEAST_ROWS = 48,      /* where there are few blocks */
  COL_BYTES = 2048,     /* of a row of a block of C; a multiple of every panel's */
  PANEL = 64,           /* the most lines of a panel */
  SERIAL = 1024 * 1024, /* multiplications below which threads do not pay */
  BLOCKS_A_THREAD = 4,
  PAIRS_PAY = 32 * 1024 /* multiplications above which pairs do */
};

typedef struct
{
  const AdjKGemm *gemm;
  const ClassLoops *loops;
  const PairLoops *pairs; /* (nullable): where both factors are bf16 */
  int64_t m, n, k;
  int64_t block_rows, block_cols;
  bool direct; /* sums are in C */
  int batched; /* 1 when there is a batch dim */
} Product;

/* Where a block of C is summed: rows of @ld elements; @exact: nothing beyond them may be written.
 */
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

/* @n lines of another type, or fewer than a panel has room for. */
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
          Buffers *buffers,
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

  memset (buffers->edge, 0, (size_t) loops->gemm_rows * width * size);
  gemm[rows](buffers->edge, loops->gemm_cols, a, b, k);
  for (int r = 0; r < rows; r++)
    loops->reduce[COMBINE_SUM].join (to + (size_t) (r * ld) * size,
                                     buffers->edge + (size_t) r * width * size, cols);
}

/* @a: at most ROWS lines, of which panels are in the buffers, as those of @b */
static void
multiply_panels (const Product *product,
                 const GemmLoop *gemm,
                 Buffers *buffers,
                 const Sums *sums,
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
        const void *a = buffers->a + (size_t) (i * k) * loops->size;
        const void *b = buffers->b + (size_t) (j * k) * loops->size;

        if (sums->exact && (rows < most_rows || cols < most_cols))
          add_tile (product, gemm, buffers, to, sums->ld, rows, cols, a, b, k);
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

/* Panels of pairs; the least exponent in them. */
static int
pack_pairs (const Product *product, char *dst, const PanelLines *lines, int width, int64_t k)
{
  int least = PAIRS_NONE;

  for (int64_t first = 0; first < lines->count;
       first += width, dst += (size_t) ((k + 1) / 2 * width) * sizeof (uint32_t))
    {
      int n = (int) min_i64 (width, lines->count - first);
      int here = product->pairs->pack (dst, width, lines, first, n, k);

      least = here < least ? here : least;
    }
  return least;
}

/* Both factors as panels, and their product added to the sums; by pairs where that gives the same
 * bits. */
static void
multiply_lines (const Product *product,
                Buffers *buffers,
                const Sums *sums,
                const PanelLines *a,
                const PanelLines *b,
                bool has_b,
                int64_t k)
{
  const ClassLoops *loops = product->loops;

  if (!has_b)
    adj_k_pack_panels (loops, buffers->b, b, loops->gemm_cols, k);
  adj_k_pack_panels (loops, buffers->a, a, loops->gemm_rows, k);
  multiply_panels (product, loops->gemm, buffers, sums, a->count, b->count, k);
}

/* false: a sum could be subnormal. */
static bool
multiply_pairs (const Product *product,
                Buffers *buffers,
                const Sums *sums,
                const PanelLines *a,
                const PanelLines *b,
                int64_t k)
{
  const ClassLoops *loops = product->loops;
  int least = pack_pairs (product, buffers->b, b, loops->gemm_cols, k);

  least += pack_pairs (product, buffers->a, a, loops->gemm_rows, k);
  if (least < PAIRS_LEAST)
    return false;
  multiply_panels (product, product->pairs->gemm, buffers, sums, a->count, b->count, (k + 1) / 2);
  return true;
}

/* Adds to a block of C, from element [batch, i, j] on, what the slice of k from @p on gives. */
static void
multiply_slice (const Product *product,
                Buffers *buffers,
                const Sums *sums,
                int64_t batch,
                int64_t i,
                int64_t j,
                int64_t m,
                int64_t n,
                int64_t p)
{
  const AdjKGemm *gemm = product->gemm;
  const ClassLoops *loops = product->loops;
  const int64_t *a_stride = gemm->a.stride + product->batched;
  const int64_t *b_stride = gemm->b.stride + product->batched;
  int64_t k = min_i64 (GEMM_STEP, product->k - p);
  PanelLines b = { &gemm->b, offset_of (product, &gemm->b, batch, p, j), b_stride[1], b_stride[0],
                   n };

  for (int64_t r = 0; r < m; r += ROWS)
    {
      PanelLines a = { &gemm->a, offset_of (product, &gemm->a, batch, i + r, p), a_stride[0],
                       a_stride[1], min_i64 (ROWS, m - r) };
      Sums part = { sums->at + (size_t) (r * sums->ld) * loops->size, sums->ld, sums->exact };

      if (p == 0)
        clear_sums (product, &part, sums->exact ? a.count : round_up (a.count, loops->gemm_rows),
                    sums->exact ? n : sums->ld);
      if (product->pairs == NULL)
        multiply_lines (product, buffers, &part, &a, &b, r > 0, k);
      else if (!multiply_pairs (product, buffers, &part, &a, &b, k))
        multiply_lines (product, buffers, &part, &a, &b, false, k);
    }
}

/* The block of C whose first element is [batch, i, j]. */
static void
multiply_block (const Product *product, int64_t batch, int64_t i, int64_t j)
{
  const AdjKGemm *gemm = product->gemm;
  const ClassLoops *loops = product->loops;
  int64_t m = min_i64 (product->block_rows, product->m - i),
          n = min_i64 (product->block_cols, product->n - j);
  Buffers buffers;
  Sums sums = { buffers.acc, round_up (n, loops->gemm_cols), false };

  if (product->direct)
    sums = (Sums){ view_at (&gemm->c, offset_of (product, &gemm->c, batch, i, j)),
                   gemm->c.stride[product->batched], true };
  if (product->k == 0)
    clear_sums (product, &sums, m, n);
  for (int64_t p = 0; p < product->k; p += GEMM_STEP)
    multiply_slice (product, &buffers, &sums, batch, i, j, m, n, p);

  for (int64_t r = 0; r < m; r++)
    {
      void *row = sums.at + (size_t) (r * sums.ld) * loops->size;
      int64_t d = gemm->d ? offset_of (product, gemm->d, batch, i + r, j) : 0;

      finish_row (product, row, d, (int) n);
      if (!product->direct)
        loops->store[gemm->c.type](
            view_at (&gemm->c, offset_of (product, &gemm->c, batch, i + r, j)),
            gemm->c.stride[product->batched + 1], row, (int) n);
    }
}

/* Whether C can hold the sums: it is of the class, its rows are dense, and D is another matrix. */
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
  bool threads = work > SERIAL && !omp_in_parallel ();

  if (gemm->a.type == ADJ_K_BF16 && gemm->b.type == ADJ_K_BF16 && work > PAIRS_PAY &&
      class_of (gemm->c.type) == ADJ_K_CLASS_F32)
    product.pairs = adj_k_pair_loops ();
  product.direct = is_direct (gemm, product.loops);
  product.block_rows = product.direct ? MOST_ROWS : ROWS;
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
