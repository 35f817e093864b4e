/* SPDX-License-Identifier: MIT */
/* Matrix products against exact ones, with equal bits for all strides. */

#include <math.h>
#include <omp.h>

#include "kernel-test.h"

typedef struct
{
  int batch, m, n, k; /* batch 0: no batch dim */
} Sizes;

static const Sizes sizes[] = {
  { 0, 1, 1, 1 },      { 0, 5, 7, 3 },    { 0, 12, 32, 128 }, { 0, 13, 33, 129 },
  { 0, 97, 257, 300 }, { 0, 1, 300, 70 }, { 0, 300, 1, 70 },  { 3, 9, 17, 40 },
  { 2, 100, 3, 1024 }, { 0, 4, 6, 0 },    { 0, 0, 6, 5 },     { 0, 40, 40, 2048 },
};

static AdjKView
matrix (AdjKType type, int batch, int rows, int cols)
{
  return batch ? kernel_array (type, 3, batch, rows, cols) : kernel_array (type, 2, rows, cols);
}

/* Returns Σ a b of one element of C, and Σ |a b|. */
static long double
dot (const AdjKGemm *gemm, const Sizes *s, gint64 element, long double *sum_abs)
{
  gint64 j = element % s->n, i = element / s->n % s->m, b = element / s->n / s->m;
  long double sum = 0;

  *sum_abs = 0;
  for (int p = 0; p < s->k; p++)
    {
      long double x = kernel_array_get (&gemm->a, (b * s->m + i) * s->k + p);
      long double y = kernel_array_get (&gemm->b, (b * s->k + p) * s->n + j);

      sum += x * y;
      *sum_abs += fabsl (x * y);
    }
  return sum;
}

static AdjKGemm
gemm_new (AdjKType type, const Sizes *s)
{
  AdjKGemm gemm = {
    .c = matrix (type, s->batch, s->m, s->n),
    .a = matrix (type, s->batch, s->m, s->k),
    .b = matrix (type, s->batch, s->k, s->n),
    .alpha = 1,
  };

  kernel_array_randomize (&gemm.a, 1, -1, 2);
  kernel_array_randomize (&gemm.b, 2, -1, 2);
  return gemm;
}

static void
test_against_exact (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  double u = type == ADJ_K_F64 ? 0x1p-53 : 0x1p-24;
  double rounding = type == ADJ_K_BF16 ? 0x1p-8 : type == ADJ_K_F16 ? 0x1p-11 : u;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      AdjKGemm gemm = gemm_new (type, &sizes[i]);
      double depth = 4 + 2 * log2 (sizes[i].k + 1);

      adj_k_gemm (&gemm);
      for (gint64 e = 0; e < adj_k_view_count (&gemm.c); e++)
        {
          long double sum_abs, exact = dot (&gemm, &sizes[i], e, &sum_abs);

          kernel_assert_near (kernel_array_get (&gemm.c, e), (double) exact,
                              (double) (sum_abs * u * depth + fabsl (exact) * rounding));
        }
    }
}

/* The bits do not depend on the strides of operands and result, nor on the other rows and
 * columns. */
static void
test_same_bits (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      AdjKGemm gemm = gemm_new (type, &sizes[i]);

      adj_k_gemm (&gemm);
      for (int which = 1; which < 8; which++)
        {
          AdjKGemm other = gemm;

          other.c = kernel_array_like (type, &gemm.c);
          if (which & 1)
            other.a = kernel_array_scramble (&gemm.a);
          if (which & 2)
            other.b = kernel_array_scramble (&gemm.b);
          if (which & 4)
            other.c = kernel_array_scramble (&other.c);
          adj_k_gemm (&other);
          kernel_assert_same (&other.c, &gemm.c);
        }
    }
}

static void
test_one_row_is_the_same (void)
{
  const Sizes s = { 0, 50, 70, 500 };
  AdjKGemm gemm = gemm_new (ADJ_K_F32, &s), row;
  AdjKView part;

  adj_k_gemm (&gemm);
  row = gemm;
  row.a.data = (float *) gemm.a.data + 31 * 500;
  row.a.size[0] = row.c.size[0] = 1;
  row.c.data = g_malloc (70 * sizeof (float));
  g_test_queue_free (row.c.data);
  adj_k_gemm (&row);
  part = gemm.c;
  part.data = (float *) gemm.c.data + 31 * 70;
  part.size[0] = 1;
  kernel_assert_same (&row.c, &part);
}

/* Products summed in blocks: several slices, rows and columns, and more slices than are packed
 * at once. */
static void
test_one_of_many_rows (gconstpointer type)
{
  static const Sizes many[] = { { 0, 400, 530, 300 }, { 0, 230, 33, 4300 } };
  static const int rows[] = { 0, 191, 192, 229 };
  int threads = omp_get_max_threads ();

  omp_set_num_threads (1); /* several threads take smaller blocks */
  for (guint i = 0; i < G_N_ELEMENTS (many) * G_N_ELEMENTS (rows); i++)
    {
      const Sizes *s = &many[i / G_N_ELEMENTS (rows)];
      AdjKGemm gemm = gemm_new ((AdjKType) GPOINTER_TO_INT (type), s), row;
      gsize size = adj_k_type_get_size (gemm.c.type);
      gsize at = (gsize) rows[i % G_N_ELEMENTS (rows)];
      AdjKView part;

      adj_k_gemm (&gemm);
      row = gemm;
      row.a.data = (char *) gemm.a.data + at * (gsize) s->k * size;
      row.a.size[0] = row.c.size[0] = 1;
      row.c = kernel_array (gemm.c.type, 2, 1, s->n);
      adj_k_gemm (&row);
      part = gemm.c;
      part.data = (char *) gemm.c.data + at * (gsize) s->n * size;
      part.size[0] = 1;
      kernel_assert_same (&row.c, &part);
    }
  omp_set_num_threads (threads);
}

/* Transposed operands as views, the form of linear layers. */
static void
test_transposed (void)
{
  AdjKView x = kernel_array_of (ADJ_K_F32, (double[]){ 1, 2, 3, 4, 5, 6 }, 2, 2, 3);
  AdjKGemm gemm = { .c = kernel_array (ADJ_K_F32, 2, 3, 3), .a = x, .b = x, .alpha = 1 };

  gemm.a.size[0] = 3;
  gemm.a.size[1] = 2;
  gemm.a.stride[0] = 1;
  gemm.a.stride[1] = 3;
  adj_k_gemm (&gemm);
  kernel_assert_equal (&gemm.c, (double[]){ 17, 22, 27, 22, 29, 36, 27, 36, 45 });
}

static void
test_alpha_beta (void)
{
  AdjKView bias = kernel_array_of (ADJ_K_F32, (double[]){ 1, NAN }, 1, 2), d;
  AdjKGemm gemm = {
    .c = kernel_array (ADJ_K_F32, 2, 2, 2),
    .a = kernel_array_of (ADJ_K_F32, (double[]){ 1, 2, 3, 4 }, 2, 2, 2),
    .b = kernel_array_of (ADJ_K_F32, (double[]){ 1, 0, 0, 1 }, 2, 2, 2),
    .alpha = 2,
    .beta = 10,
    .d = &d,
  };

  d = gemm.c;
  d.data = bias.data;
  d.stride[0] = 0;
  adj_k_gemm (&gemm);
  kernel_assert_equal (&gemm.c, (double[]){ 12, NAN, 16, NAN });
  gemm.beta = 0; /* NaN in D is ignored now */
  adj_k_gemm (&gemm);
  kernel_assert_equal (&gemm.c, (double[]){ 2, 4, 6, 8 });
}

static void
test_integers (void)
{
  AdjKGemm gemm = {
    .c = kernel_array (ADJ_K_I64, 2, 2, 2),
    .a = kernel_array_of (ADJ_K_I64, (double[]){ 0x1p53, -1, 3, 4 }, 2, 2, 2),
    .b = kernel_array_of (ADJ_K_I64, (double[]){ 1, 2, -1, 5 }, 2, 2, 2),
    .d = &gemm.a,
    .alpha = 1,
    .beta = -1,
  };

  adj_k_gemm (&gemm); /* 2^53 + 1 - 2^53 is exact in integer arithmetic only */
  kernel_assert_equal (&gemm.c, (double[]){ 1, 0x1p54 - 5 + 1, -4, 22 });
}

static void
test_infinity (void)
{
  AdjKGemm gemm = {
    .c = kernel_array (ADJ_K_F32, 2, 2, 1),
    .a = kernel_array_of (ADJ_K_F32, (double[]){ INFINITY, 1, 1, 2 }, 2, 2, 2),
    .b = kernel_array_of (ADJ_K_F32, (double[]){ 1, 3 }, 2, 2, 1),
    .alpha = 1,
  };

  adj_k_gemm (&gemm); /* the padding zeros of panels are not multiplied by the infinity */
  kernel_assert_equal (&gemm.c, (double[]){ INFINITY, 7 });
}

/* Returns the same numbers in f32. */
static AdjKView
widened (const AdjKView *view)
{
  AdjKView wide = kernel_array_like (ADJ_K_F32, view);

  for (gint64 i = 0; i < adj_k_view_count (view); i++)
    kernel_array_set (&wide, i, kernel_array_get (view, i));
  return wide;
}

/* bf16 products may use other instructions and give the same bits; also if sums are subnormal,
 * which those instructions flush. */
static void
test_bf16_has_the_bits_of_f32 (void)
{
  static const double ranges[] = { 1, 0x1p-64, 0x1p-130 };
  static const Sizes big[] = {
    { 0, 50, 70, 129 }, { 0, 200, 40, 300 }, { 2, 33, 65, 128 }, { 0, 400, 70, 260 }
  };

  for (guint i = 0; i < G_N_ELEMENTS (big) * G_N_ELEMENTS (ranges); i++)
    for (int turned = 0; turned < 4; turned++)
      {
        double range = ranges[i % G_N_ELEMENTS (ranges)];
        AdjKGemm gemm = gemm_new (ADJ_K_BF16, &big[i / G_N_ELEMENTS (ranges)]), wide;

        kernel_array_randomize (&gemm.a, 3, -range, range);
        kernel_array_randomize (&gemm.b, 4, -range, range);
        kernel_array_set (&gemm.a, 5, 0);
        kernel_array_set (&gemm.a, adj_k_view_count (&gemm.a) - 1, 0x1p-130);
        wide = gemm;
        wide.a = widened (&gemm.a);
        wide.b = widened (&gemm.b);
        wide.c = kernel_array_like (ADJ_K_F32, &gemm.c);
        gemm.c = kernel_array_like (ADJ_K_F32, &gemm.c);
        if (turned & 1)
          gemm.a = kernel_array_scramble (&gemm.a);
        if (turned & 2)
          gemm.b = kernel_array_scramble (&gemm.b);
        adj_k_gemm (&gemm);
        adj_k_gemm (&wide);
        kernel_assert_same (&gemm.c, &wide.c);
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  kernel_add_for_floats ("/kernels/matmul/against-exact", test_against_exact);
  kernel_add_for_floats ("/kernels/matmul/same-bits", test_same_bits);
  g_test_add_func ("/kernels/matmul/one-row-is-the-same", test_one_row_is_the_same);
  kernel_add_for_floats ("/kernels/matmul/one-of-many-rows", test_one_of_many_rows);
  g_test_add_func ("/kernels/matmul/transposed", test_transposed);
  g_test_add_func ("/kernels/matmul/alpha-beta", test_alpha_beta);
  g_test_add_func ("/kernels/matmul/integers", test_integers);
  g_test_add_func ("/kernels/matmul/bf16-has-the-bits-of-f32", test_bf16_has_the_bits_of_f32);
  g_test_add_func ("/kernels/matmul/infinity", test_infinity);

  return g_test_run ();
}
