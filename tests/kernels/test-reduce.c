/* SPDX-License-Identifier: MIT */
/* Reductions: the order of summation and its accuracy. */

#include <math.h>

#include "kernel-test.h"

/* Makes an array with the sizes of @view and 1 in @dims. */
static AdjKView
reduced_like (AdjKType type, const AdjKView *view, guint32 dims)
{
  AdjKView shape = *view;

  for (int d = 0; d < shape.rank; d++)
    if (dims >> d & 1)
      shape.size[d] = 1;
  return kernel_array_like (type, &shape);
}

/* Row-major index in the reduced array of element @i of @view. */
static gint64
target_of (const AdjKView *view, const AdjKView *out, gint64 i)
{
  gint64 index = 0, scale = 1;

  for (int d = view->rank; d-- > 0; i /= view->size[d])
    {
      if (out->size[d] > 1)
        index += i % view->size[d] * scale;
      scale *= out->size[d];
    }
  return index;
}

typedef struct
{
  long double sum, sum_abs, sum_square, product, max, min;
  gint64 n;
} Exact;

static Exact *
exact_new (const AdjKView *view, const AdjKView *out)
{
  gint64 n = adj_k_view_count (out);
  Exact *exact = g_new0 (Exact, n + 1);

  for (gint64 i = 0; i < n; i++)
    exact[i] = (Exact){ .product = 1, .max = -INFINITY, .min = INFINITY };
  for (gint64 i = 0; i < adj_k_view_count (view); i++)
    {
      Exact *e = &exact[target_of (view, out, i)];
      long double x = kernel_array_get (view, i);

      e->sum += x;
      e->sum_abs += fabsl (x);
      e->sum_square += x * x;
      e->product *= x;
      e->max = MAX (e->max, x);
      e->min = MIN (e->min, x);
      e->n++;
    }
  return exact;
}

static const double unit[ADJ_K_N] = {
  [ADJ_K_F16] = 0x1p-11, [ADJ_K_BF16] = 0x1p-8, [ADJ_K_F32] = 0x1p-24, [ADJ_K_F64] = 0x1p-53
};

/* 16 sums in a lane, 6 levels over lanes, the tree over leaves, then rounding to the type. */
static double
sum_bound (AdjKType type, const Exact *e)
{
  double depth = 16 + 6 + 2 + log2 ((double) e->n / 1024 + 1);
  double compute = type == ADJ_K_F64 ? 0x1p-53 : 0x1p-24;

  return (double) (e->sum_abs * compute * depth + fabsl (e->sum) * unit[type]);
}

static void
check_sizes (AdjKType type, const AdjKView *in, guint32 dims)
{
  AdjKView out = reduced_like (type, in, dims);
  g_autofree Exact *exact = exact_new (in, &out);
  gint64 n = adj_k_view_count (&out);
  double u = unit[type];

  adj_k_reduce (ADJ_K_SUM, &out, in, dims);
  for (gint64 i = 0; i < n; i++)
    kernel_assert_near (kernel_array_get (&out, i), (double) exact[i].sum,
                        sum_bound (type, &exact[i]));

  adj_k_reduce (ADJ_K_MEAN, &out, in, dims);
  for (gint64 i = 0; i < n; i++)
    kernel_assert_near (kernel_array_get (&out, i), (double) (exact[i].sum / exact[i].n),
                        2 * sum_bound (type, &exact[i]) / (double) exact[i].n);

  adj_k_reduce (ADJ_K_MAX, &out, in, dims);
  for (gint64 i = 0; i < n; i++)
    g_assert_cmpfloat (kernel_array_get (&out, i), ==, (double) exact[i].max);

  adj_k_reduce (ADJ_K_MIN, &out, in, dims);
  for (gint64 i = 0; i < n; i++)
    g_assert_cmpfloat (kernel_array_get (&out, i), ==, (double) exact[i].min);

  adj_k_reduce (ADJ_K_NORM2, &out, in, dims);
  for (gint64 i = 0; i < n; i++)
    kernel_assert_near (kernel_array_get (&out, i), (double) sqrtl (exact[i].sum_square),
                        (double) sqrtl (exact[i].sum_square) * (u + 20 * MIN (u, 0x1p-24)));
}

/* All subsets of the dims, for reductions that are short, long, longer than a leaf, and by
 * columns. */
static void
test_all_dims (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  AdjKView arrays[] = { kernel_array (type, 3, 7, 5, 33), kernel_array (type, 3, 3, 2100, 2),
                        kernel_array (type, 2, 4, 3000),  kernel_array (type, 4, 2, 1, 70, 40),
                        kernel_array (type, 1, 1),        kernel_array (type, 0) };

  for (guint i = 0; i < G_N_ELEMENTS (arrays); i++)
    for (guint32 dims = 0; dims < 1u << arrays[i].rank; dims++)
      {
        kernel_array_randomize (&arrays[i], 11 + i, -1, 2);
        check_sizes (type, &arrays[i], dims);
      }
}

/* The order of summation follows the indices, not the addresses. */
static void
test_same_bits (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  const AdjKReduce kinds[] = { ADJ_K_SUM, ADJ_K_PROD, ADJ_K_MEAN, ADJ_K_NORM2, ADJ_K_MAX };
  AdjKView in = kernel_array (type, 3, 9, 1500, 21), other;

  kernel_array_randomize (&in, 5, 0.99, 1.01);
  other = kernel_array_scramble (&in);
  for (guint32 dims = 1; dims < 8; dims++)
    for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
      {
        AdjKView a = reduced_like (type, &in, dims), b = kernel_array_scramble (&a);

        adj_k_reduce (kinds[k], &a, &in, dims);
        adj_k_reduce (kinds[k], &b, &other, dims);
        kernel_assert_same (&a, &b);
      }
}

/* A naive implementation of the specified tree (16 lanes × 4, leaves of 1024, pairwise). */
static float
tree_of (const float *x, gint64 n)
{
  float lanes[64] = { 0 };
  gint64 half = 1024;

  if (n > 1024)
    {
      while (half * 2 < n)
        half *= 2;
      return tree_of (x, half) + tree_of (x + half, n - half);
    }
  for (gint64 i = 0; i < n; i++)
    lanes[i % 64] += x[i];
  for (int width = 32; width > 0; width /= 2)
    for (int l = 0; l < width; l++)
      lanes[l] += lanes[l + width];
  return lanes[0];
}

static void
test_tree (void)
{
  const int sizes[] = {
    1, 63, 64, 65, 1023, 1024, 1025, 3072, 5000, 65536, 65537, 200000, 1 << 20
  };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      AdjKView in = kernel_array (ADJ_K_F32, 1, sizes[i]), out = kernel_array (ADJ_K_F32, 1, 1);

      kernel_array_randomize (&in, i, -1, 1);
      adj_k_reduce (ADJ_K_SUM, &out, &in, 1);
      g_assert_cmpfloat (*(float *) out.data, ==, tree_of (in.data, sizes[i]));
    }
}

/* 2^22 numbers: the relative error that the specification measured for 2^24, with a margin. */
static void
test_sum_is_accurate (void)
{
  AdjKView in = kernel_array (ADJ_K_F32, 1, 1 << 22), out = kernel_array (ADJ_K_F32, 1, 1);
  long double exact = 0;

  kernel_array_randomize (&in, 1, 0, 1);
  for (int i = 0; i < 1 << 22; i++)
    exact += ((float *) in.data)[i];
  adj_k_reduce (ADJ_K_SUM, &out, &in, 1);
  kernel_assert_near (*(float *) out.data / (double) exact, 1, 2e-7);
}

static void
test_integers (void)
{
  AdjKView in = kernel_array (ADJ_K_I32, 2, 3, 4), out = kernel_array (ADJ_K_I64, 2, 3, 1);
  AdjKView flags = kernel_array_of (ADJ_K_BOOL, (double[]){ 1, 0, 1, 1, 1, 1 }, 2, 2, 3);
  AdjKView count = kernel_array (ADJ_K_I64, 2, 2, 1), real = kernel_array (ADJ_K_F32, 2, 3, 1);

  for (int i = 0; i < 12; i++)
    kernel_array_set (&in, i, i == 11 ? G_MAXINT32 : i + G_MAXINT32 - 20);
  adj_k_reduce (ADJ_K_SUM, &out, &in, 2);
  kernel_assert_equal (
      &out, (double[]){ 4. * G_MAXINT32 - 74, 4. * G_MAXINT32 - 58, 4. * G_MAXINT32 - 33 });
  adj_k_reduce (ADJ_K_SUM, &real, &in, 2);
  g_assert_cmpfloat (kernel_array_get (&real, 0), ==, (double) (4 * (float) G_MAXINT32));
  adj_k_reduce (ADJ_K_SUM, &count, &flags, 2);
  kernel_assert_equal (&count, (double[]){ 2, 3 });
  for (int i = 0; i < 12; i++)
    kernel_array_set (&in, i, i - 6);
  adj_k_reduce (ADJ_K_PROD, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ 360, 0, 120 });
}

static void
test_nan_and_infinity (void)
{
  const double x[] = { 1, NAN, 3, INFINITY, 1, -INFINITY, 1, 2, 3 };
  AdjKView in = kernel_array_of (ADJ_K_F32, x, 2, 3, 3), out = kernel_array (ADJ_K_F32, 2, 3, 1);

  adj_k_reduce (ADJ_K_MAX, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ NAN, INFINITY, 3 });
  adj_k_reduce (ADJ_K_MIN, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ NAN, -INFINITY, 1 });
  adj_k_reduce (ADJ_K_SUM, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ NAN, NAN, 6 });
}

static void
test_any_all (void)
{
  const double x[] = { 0, 0, 0, NAN, 0, -0.0, 1, 2, 0.5 };
  AdjKView in = kernel_array_of (ADJ_K_F32, x, 2, 3, 3);
  AdjKView any = kernel_array (ADJ_K_BOOL, 2, 3, 1), all = kernel_array (ADJ_K_U8, 2, 3, 1);

  adj_k_reduce (ADJ_K_ANY, &any, &in, 2);
  adj_k_reduce (ADJ_K_ALL, &all, &in, 2);
  kernel_assert_equal (&any, (double[]){ 0, 1, 1 });
  kernel_assert_equal (&all, (double[]){ 0, 0, 1 });
}

/* What PyTorch gives for empty reductions. */
static void
test_empty (void)
{
  AdjKView in = kernel_array (ADJ_K_F32, 2, 2, 0), out = kernel_array (ADJ_K_F32, 2, 2, 1);
  AdjKView flags = kernel_array (ADJ_K_U8, 2, 2, 1), none = kernel_array (ADJ_K_F32, 2, 1, 0);

  adj_k_reduce (ADJ_K_SUM, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ 0, 0 });
  adj_k_reduce (ADJ_K_PROD, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ 1, 1 });
  adj_k_reduce (ADJ_K_MEAN, &out, &in, 2);
  kernel_assert_equal (&out, (double[]){ NAN, NAN });
  adj_k_reduce (ADJ_K_ANY, &flags, &in, 2);
  kernel_assert_equal (&flags, (double[]){ 0, 0 });
  adj_k_reduce (ADJ_K_ALL, &flags, &in, 2);
  kernel_assert_equal (&flags, (double[]){ 1, 1 });
  adj_k_reduce (ADJ_K_SUM, &none, &in, 1);
}

static void
test_variance (void)
{
  AdjKView in = kernel_array (ADJ_K_F32, 3, 5, 130, 19), more = kernel_array (ADJ_K_F32, 1, 1);

  kernel_array_randomize (&in, 9, 99, 101); /* far from 0: a one-pass formula would cancel */
  for (guint32 dims = 1; dims < 8; dims++)
    {
      AdjKView var = reduced_like (ADJ_K_F32, &in, dims), mean = var, again;
      g_autofree Exact *exact = exact_new (&in, &var);
      g_autofree long double *square = g_new0 (long double, adj_k_view_count (&var));

      mean = kernel_array_like (ADJ_K_F32, &var);
      again = kernel_array_scramble (&var);
      adj_k_var_mean (&var, &mean, &in, dims, 1);
      for (gint64 i = 0; i < adj_k_view_count (&in); i++)
        {
          gint64 to = target_of (&in, &var, i);
          long double d = kernel_array_get (&in, i) - exact[to].sum / exact[to].n;

          square[to] += d * d;
        }
      for (gint64 i = 0; i < adj_k_view_count (&var); i++)
        {
          double expected = (double) (square[i] / (exact[i].n - 1));

          kernel_assert_near (kernel_array_get (&mean, i), (double) (exact[i].sum / exact[i].n),
                              2e-5);
          kernel_assert_near (kernel_array_get (&var, i), expected, 3e-6 * expected);
        }
      in = kernel_array_scramble (&in);
      adj_k_var_mean (&again, NULL, &in, dims, 1);
      kernel_assert_same (&again, &var);
    }

  /* PyTorch: var of one element is NaN with correction 1 */
  adj_k_var_mean (&more, NULL, &more, 1, 1);
  g_assert_true (isnan (*(float *) more.data));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  kernel_add_for_floats ("/kernels/reduce/all-dims", test_all_dims);
  kernel_add_for_floats ("/kernels/reduce/same-bits", test_same_bits);
  g_test_add_func ("/kernels/reduce/tree", test_tree);
  g_test_add_func ("/kernels/reduce/sum-is-accurate", test_sum_is_accurate);
  g_test_add_func ("/kernels/reduce/integers", test_integers);
  g_test_add_func ("/kernels/reduce/nan-and-infinity", test_nan_and_infinity);
  g_test_add_func ("/kernels/reduce/any-all", test_any_all);
  g_test_add_func ("/kernels/reduce/empty", test_empty);
  g_test_add_func ("/kernels/reduce/variance", test_variance);

  return g_test_run ();
}
