/* SPDX-License-Identifier: MIT */

/* One thread and several threads give the same bits. */

#include <omp.h>

#include "kernel-test.h"

typedef void (*Work) (const AdjKView *out, const AdjKView *in);

static void
sum_all (const AdjKView *out, const AdjKView *in)
{
  AdjKView one = *out;

  one.size[0] = one.size[1] = 1;
  adj_k_reduce (ADJ_K_SUM, &one, in, 3);
}

static void
sum_rows (const AdjKView *out, const AdjKView *in)
{
  AdjKView column = *out;

  column.size[1] = 1;
  adj_k_reduce (ADJ_K_SUM, &column, in, 2);
}

static void
sum_columns (const AdjKView *out, const AdjKView *in)
{
  AdjKView row = *out;

  row.size[0] = 1;
  adj_k_reduce (ADJ_K_SUM, &row, in, 1);
}

static void
multiply (const AdjKView *out, const AdjKView *in)
{
  AdjKGemm gemm = { .c = *out, .a = *in, .b = *in, .alpha = 1 };

  adj_k_gemm (&gemm);
}

static void
softmax (const AdjKView *out, const AdjKView *in)
{
  adj_k_softmax (out, in, 1);
}

static void
layer_norm (const AdjKView *out, const AdjKView *in)
{
  AdjKLayerNorm norm = { .x = *in, .y = *out, .n_dims = 1, .eps = 1e-5 };

  norm.mean = norm.rstd = kernel_array (ADJ_K_F32, 2, (int) in->size[0], 1);
  adj_k_layer_norm (&norm);
}

static void
test_work (gconstpointer data)
{
  Work work = (Work) data;
  AdjKView in = kernel_array (ADJ_K_F32, 2, 401, 401), one = kernel_array (ADJ_K_F32, 2, 401, 401);
  AdjKView many = kernel_array (ADJ_K_F32, 2, 401, 401);

  kernel_array_randomize (&in, 6, -1, 1);
  omp_set_num_threads (1);
  work (&one, &in);
  for (int threads = 2; threads <= 5; threads++)
    {
      omp_set_num_threads (threads);
      work (&many, &in);
      kernel_assert_same (&many, &one);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/kernels/threads/sum-all", sum_all, test_work);
  g_test_add_data_func ("/kernels/threads/sum-rows", sum_rows, test_work);
  g_test_add_data_func ("/kernels/threads/sum-columns", sum_columns, test_work);
  g_test_add_data_func ("/kernels/threads/gemm", multiply, test_work);
  g_test_add_data_func ("/kernels/threads/softmax", softmax, test_work);
  g_test_add_data_func ("/kernels/threads/layer-norm", layer_norm, test_work);

  return g_test_run ();
}
