/* SPDX-License-Identifier: MIT */
/* Extremes and cumulative sums along a dimension. */

#include <math.h>

#include "kernel-test.h"

/* Expected: torch.max / min (dim) of PyTorch 2.6 on the same numbers. */
static void
test_extremes (void)
{
  const double x[] = { 1, 2, 2, NAN, 5, NAN, -1, -1, -3 };
  const AdjKType types[] = { ADJ_K_F32, ADJ_K_F64, ADJ_K_BF16 };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      AdjKView in = kernel_array_of (types[t], x, 2, 3, 3),
               value = kernel_array (types[t], 2, 3, 1);
      AdjKView index = kernel_array (ADJ_K_I64, 2, 3, 1), all = kernel_array (ADJ_K_I64, 2, 1, 1);

      in = kernel_array_scramble (&in);
      adj_k_max_dim (&value, &index, &in, 1);
      kernel_assert_equal (&value, (double[]){ 2, NAN, -1 });
      kernel_assert_equal (&index, (double[]){ 1, 0, 0 });
      adj_k_min_dim (&value, &index, &in, 1);
      kernel_assert_equal (&value, (double[]){ 1, NAN, -3 });
      kernel_assert_equal (&index, (double[]){ 0, 0, 2 });
      adj_k_max_dim (NULL, &all, &in, -1);
      kernel_assert_equal (&all, (double[]){ 3 });
    }
}

static void
test_long_extremes (void)
{
  AdjKView in = kernel_array (ADJ_K_I32, 2, 1000, 3), index = kernel_array (ADJ_K_I64, 2, 1, 3);
  AdjKView value = kernel_array (ADJ_K_I32, 2, 1, 3);

  for (int i = 0; i < 3000; i++)
    kernel_array_set (&in, i, i % 17);
  kernel_array_set (&in, 700 * 3 + 0, 100);
  kernel_array_set (&in, 900 * 3 + 0, 100); /* not the first maximum */
  kernel_array_set (&in, 999 * 3 + 1, -5);
  kernel_array_set (&in, 256 * 3 + 2, 99);
  adj_k_max_dim (&value, &index, &in, 0);
  g_assert_cmpfloat (kernel_array_get (&index, 0), ==, 700);
  g_assert_cmpfloat (kernel_array_get (&index, 2), ==, 256);
  g_assert_cmpfloat (kernel_array_get (&value, 2), ==, 99);
  adj_k_min_dim (NULL, &index, &in, 0);
  g_assert_cmpfloat (kernel_array_get (&index, 1), ==, 999);
}

/* An infinite extreme is found although no element is beyond it. */
static void
test_infinities (void)
{
  AdjKView in = kernel_array_of (ADJ_K_F32, (double[]){ -INFINITY, -INFINITY }, 1, 2);
  AdjKView index = kernel_array (ADJ_K_I64, 1, 1),
           scalar = kernel_array_of (ADJ_K_F32, (double[]){ 4 }, 0);
  AdjKView zero = kernel_array_of (ADJ_K_I64, (double[]){ 7 }, 0),
           value = kernel_array (ADJ_K_F32, 0);

  adj_k_max_dim (NULL, &index, &in, 0);
  kernel_assert_equal (&index, (double[]){ 0 });
  adj_k_max_dim (&value, &zero, &scalar, -1);
  kernel_assert_equal (&zero, (double[]){ 0 });
  kernel_assert_equal (&value, (double[]){ 4 });
}

static void
test_cumsum (void)
{
  AdjKView in = kernel_array (ADJ_K_F32, 3, 4, 300, 3),
           out = kernel_array (ADJ_K_F32, 3, 4, 300, 3);

  kernel_array_randomize (&in, 2, -1, 1);
  in = kernel_array_scramble (&in);
  adj_k_cumsum (&out, &in, 1);
  for (int a = 0; a < 4; a++)
    for (int c = 0; c < 3; c++)
      {
        double sum = 0;

        for (int b = 0; b < 300; b++)
          {
            sum += kernel_array_get (&in, (a * 300 + b) * 3 + c);
            g_assert_cmpfloat (kernel_array_get (&out, (a * 300 + b) * 3 + c), ==,
                               (double) (float) sum);
          }
      }
}

static void
test_integer_scans (void)
{
  AdjKView in = kernel_array_of (ADJ_K_U8, (double[]){ 200, 100, 3, 2 }, 2, 2, 2);
  AdjKView out = kernel_array (ADJ_K_I64, 2, 2, 2);
  AdjKView scalar = kernel_array_of (ADJ_K_I64, (double[]){ 4 }, 0),
           to = kernel_array (ADJ_K_I64, 0);

  adj_k_cumsum (&out, &in, 1);
  kernel_assert_equal (&out, (double[]){ 200, 300, 3, 5 });
  adj_k_cumprod (&out, &in, 0);
  kernel_assert_equal (&out, (double[]){ 200, 100, 600, 200 });
  adj_k_cumsum (&to, &scalar, 0);
  kernel_assert_equal (&to, (double[]){ 4 });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels/scan/extremes", test_extremes);
  g_test_add_func ("/kernels/scan/long-extremes", test_long_extremes);
  g_test_add_func ("/kernels/scan/infinities", test_infinities);
  g_test_add_func ("/kernels/scan/cumsum", test_cumsum);
  g_test_add_func ("/kernels/scan/integer-scans", test_integer_scans);

  return g_test_run ();
}
