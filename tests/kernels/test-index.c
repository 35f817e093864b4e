/* SPDX-License-Identifier: MIT */

/* Indexing, gather and scatter kernels; expected values are those of PyTorch 2.6. */

#include "kernel-test.h"

static AdjKView
counting (AdjKType type, int rank, int a, int b, int c)
{
  AdjKView view = kernel_array (type, rank, a, b, c);

  for (gint64 i = 0; i < adj_k_view_count (&view); i++)
    kernel_array_set (&view, i, (double) i);
  return kernel_array_scramble (&view);
}

static AdjKView
indices (const double *values, int rank, int a, int b)
{
  AdjKView view = kernel_array_of (ADJ_K_I64, values, rank, a, b);

  return kernel_array_scramble (&view);
}

static void
test_embedding (void)
{
  AdjKView weight = counting (ADJ_K_BF16, 2, 4, 3, 0), out = kernel_array (ADJ_K_BF16, 3, 2, 2, 3);
  AdjKView idx = indices ((double[]){ 1, 3, 1, 0 }, 2, 2, 2),
           wrong = indices ((double[]){ 0, 4 }, 1, 2, 0);
  gint64 bad = 0;

  out = kernel_array_scramble (&out);
  g_assert_true (adj_k_embedding (&out, &weight, &idx, &bad));
  kernel_assert_equal (&out, (double[]){ 3, 4, 5, 9, 10, 11, 3, 4, 5, 0, 1, 2 });
  out.rank = 2;
  out.size[1] = 3;
  g_assert_false (adj_k_embedding (&out, &weight, &wrong, &bad));
  g_assert_cmpint (bad, ==, 4);
  kernel_array_set (&wrong, 1, -1);
  g_assert_false (adj_k_embedding (&out, &weight, &wrong, &bad));
  g_assert_cmpint (bad, ==, -1);
}

static void
test_embedding_backward (void)
{
  const AdjKType types[] = { ADJ_K_F32, ADJ_K_F16, ADJ_K_F64 };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      AdjKView gw = kernel_array (types[t], 2, 4, 3);
      gint64 bad;
      AdjKEmbeddingBackward e = {
        .gw = kernel_array_scramble (&gw),
        .g = counting (types[t], 3, 2, 2, 3),
        .indices = indices ((double[]){ 1, 3, 1, 0 }, 2, 2, 2),
        .padding_idx = -1,
      };

      g_assert_true (adj_k_embedding_backward (&e, &bad));
      kernel_assert_equal (&e.gw, (double[]){ 9, 10, 11, 6, 8, 10, 0, 0, 0, 3, 4, 5 });
      e.padding_idx = 3;
      e.by_freq = TRUE;
      g_assert_true (adj_k_embedding_backward (&e, &bad));
      kernel_assert_equal (&e.gw, (double[]){ 9, 10, 11, 3, 4, 5, 0, 0, 0, 0, 0, 0 });
      kernel_array_set (&e.indices, 2, 4);
      g_assert_false (adj_k_embedding_backward (&e, &bad));
      g_assert_cmpint (bad, ==, 4);
    }
}

static void
test_select (void)
{
  AdjKView x = counting (ADJ_K_F32, 2, 2, 3, 0), out = kernel_array (ADJ_K_F32, 2, 2, 3);
  AdjKView idx = indices ((double[]){ 2, 2, 0 }, 1, 3, 0);
  gint64 bad;

  g_assert_true (adj_k_index_select (&out, &x, 1, &idx, &bad));
  kernel_assert_equal (&out, (double[]){ 2, 2, 0, 5, 5, 3 });
  kernel_array_set (&idx, 1, 3);
  g_assert_false (adj_k_index_select (&out, &x, 1, &idx, &bad));
  g_assert_cmpint (bad, ==, 3);
}

static void
test_index_add (void)
{
  AdjKView out = kernel_array (ADJ_K_F32, 2, 3, 2), idx = indices ((double[]){ 2, 0, 2 }, 1, 3, 0);
  AdjKView src = counting (ADJ_K_F32, 2, 3, 2, 0);
  gint64 bad;

  g_assert_true (adj_k_index_add (&out, 0, &idx, &src, 2, &bad));
  kernel_assert_equal (&out, (double[]){ 4, 6, 0, 0, 8, 12 });
}

static void
test_gather (void)
{
  AdjKView x = counting (ADJ_K_F32, 2, 2, 3, 0), out = kernel_array (ADJ_K_F32, 2, 2, 2);
  AdjKView idx = indices ((double[]){ 2, 0, 1, 1 }, 2, 2, 2);
  AdjKView scalar = kernel_array_of (ADJ_K_F32, (double[]){ 6 }, 0),
           to = kernel_array (ADJ_K_F32, 0);
  AdjKView zero = kernel_array (ADJ_K_I64, 0);
  gint64 bad;

  g_assert_true (adj_k_gather (&out, &x, 1, &idx, &bad));
  kernel_assert_equal (&out, (double[]){ 2, 0, 4, 4 });
  g_assert_true (adj_k_gather (&to, &scalar, 0, &zero, &bad));
  kernel_assert_equal (&to, (double[]){ 6 });
  kernel_array_set (&idx, 3, -1); /* negative indices are invalid here, unlike in indexing */
  g_assert_false (adj_k_gather (&out, &x, 1, &idx, &bad));
  g_assert_cmpint (bad, ==, -1);
}

static void
test_scatter (void)
{
  AdjKView out = kernel_array (ADJ_K_F16, 2, 2, 3), src = counting (ADJ_K_F16, 2, 2, 3, 0);
  AdjKView idx = indices ((double[]){ 1, 0, 1, 1, 1, 0 }, 2, 2, 3);
  AdjKView value = src, one = kernel_array_of (ADJ_K_F16, (double[]){ 9 }, 0);
  gint64 bad;

  adj_k_fill_i64 (&out, 1);
  g_assert_true (adj_k_scatter_add (&out, 0, &idx, &src, &bad));
  kernel_assert_equal (&out, (double[]){ 1, 2, 6, 4, 5, 3 });
  value.data = one.data;
  value.stride[0] = value.stride[1] = 0;
  g_assert_true (adj_k_scatter (&out, 0, &idx, &value, &bad));
  kernel_assert_equal (&out, (double[]){ 1, 9, 9, 9, 9, 9 });
  kernel_array_set (&idx, 0, 2);
  g_assert_false (adj_k_scatter (&out, 0, &idx, &src, &bad));
  g_assert_false (adj_k_scatter_add (&out, 0, &idx, &src, &bad));
  g_assert_cmpint (bad, ==, 2);
}

/* 2048 + 1 + 1 in f16: rounding after every addition would stay at 2048. */
static void
test_scatter_rounds_once (void)
{
  AdjKView out = kernel_array_of (ADJ_K_F16, (double[]){ 2048 }, 1, 1),
           idx = indices ((double[]){ 0, 0 }, 1, 2, 0);
  AdjKView src = kernel_array_of (ADJ_K_F16, (double[]){ 1, 1 }, 1, 2);
  gint64 bad;

  g_assert_true (adj_k_scatter_add (&out, 0, &idx, &src, &bad));
  kernel_assert_equal (&out, (double[]){ 2050 });
}

static void
test_index (void)
{
  AdjKView a = indices ((double[]){ 1, 0 }, 1, 2, 0), c = indices ((double[]){ 3, -1 }, 1, 2, 0);
  AdjKView row = indices ((double[]){ 2, 0 }, 2, 1, 2),
           column = indices ((double[]){ 1, 3 }, 2, 2, 1);
  AdjKView middle = indices ((double[]){ 2, -1, 0 }, 1, 3, 0);
  AdjKIndex apart = { .x = counting (ADJ_K_F32, 3, 2, 3, 4),
                      .values = kernel_array (ADJ_K_F32, 2, 2, 3) };
  AdjKIndex beside = apart, whole = apart;
  gint64 bad = 0;

  /* x[a, :, c]: the indexed dims are separated, so their dim comes first */
  apart.idx[0] = &a;
  apart.idx[2] = &c;
  g_assert_true (adj_k_index (&apart, &bad));
  kernel_assert_equal (&apart.values, (double[]){ 15, 19, 23, 3, 7, 11 });

  /* x[:, row, column], broadcast to 2 × 2 */
  row.size[0] = column.size[1] = 2;
  row.stride[0] = column.stride[1] = 0;
  beside.idx[1] = &row;
  beside.idx[2] = &column;
  beside.values = kernel_array (ADJ_K_F32, 3, 2, 2, 2);
  g_assert_true (adj_k_index (&beside, &bad));
  kernel_assert_equal (&beside.values, (double[]){ 9, 1, 11, 3, 21, 13, 23, 15 });

  /* x[:, middle]: contiguous runs */
  whole.idx[1] = &middle;
  whole.values = kernel_array (ADJ_K_F32, 3, 2, 3, 4);
  whole.values = kernel_array_scramble (&whole.values);
  g_assert_true (adj_k_index (&whole, &bad));
  kernel_assert_equal (&whole.values, (double[]){ 8,  9,  10, 11, 8,  9,  10, 11, 0,  1,  2,  3,
                                                  20, 21, 22, 23, 20, 21, 22, 23, 12, 13, 14, 15 });

  kernel_array_set (&middle, 2, -4);
  g_assert_false (adj_k_index (&whole, &bad));
  g_assert_cmpint (bad, ==, -4);
}

/* x[:, a, :, c]: the indexed dims are separated, so their dim comes first although dim 0 is not
 * indexed. */
static void
test_index_apart (void)
{
  AdjKView a = indices ((double[]){ 1, 0, 1 }, 1, 3, 0),
           c = indices ((double[]){ 4, 2, -5 }, 1, 3, 0);
  AdjKIndex index = { .x = kernel_array (ADJ_K_I32, 4, 2, 2, 3, 5),
                      .values = kernel_array (ADJ_K_I32, 3, 3, 2, 3),
                      .idx = { NULL, &a, NULL, &c } };
  const int at[3][2] = { { 1, 4 }, { 0, 2 }, { 1, 0 } };
  gint64 bad;

  for (int i = 0; i < 60; i++)
    kernel_array_set (&index.x, i, i);
  g_assert_true (adj_k_index (&index, &bad));
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 2; i++)
      for (int k = 0; k < 3; k++)
        g_assert_cmpfloat (kernel_array_get (&index.values, (b * 2 + i) * 3 + k), ==,
                           ((i * 2 + at[b][0]) * 3 + k) * 5 + at[b][1]);
}

static void
test_index_put (void)
{
  AdjKView i = indices ((double[]){ 1, 1, 0 }, 1, 3, 0),
           j = indices ((double[]){ 2, 2, -3 }, 1, 3, 0);
  AdjKView rows = indices ((double[]){ 2, 0, 2 }, 1, 3, 0);
  AdjKIndex points = {
    .x = kernel_array (ADJ_K_BF16, 2, 2, 3),
    .values = kernel_array_of (ADJ_K_BF16, (double[]){ 1, 2, 4 }, 1, 3),
    .idx = { &i, &j },
    .accumulate = TRUE,
  };
  AdjKIndex lines = {
    .x = kernel_array (ADJ_K_F32, 2, 3, 2),
    .values = counting (ADJ_K_F32, 2, 3, 2, 0),
    .idx = { &rows },
    .accumulate = TRUE,
  };
  gint64 bad;

  g_assert_true (adj_k_index_put (&points, &bad));
  kernel_assert_equal (&points.x, (double[]){ 4, 0, 0, 0, 0, 3 });
  g_assert_true (adj_k_index_put (&lines, &bad));
  kernel_assert_equal (&lines.x, (double[]){ 2, 3, 0, 0, 4, 6 });
  lines.accumulate = FALSE;
  kernel_array_set (&rows, 2, 1);
  g_assert_true (adj_k_index_put (&lines, &bad));
  kernel_assert_equal (&lines.x, (double[]){ 2, 3, 4, 5, 0, 1 });
  kernel_array_set (&rows, 2, 3);
  g_assert_false (adj_k_index_put (&lines, &bad));
  g_assert_cmpint (bad, ==, 3);
}

/* No index tensors, index tensors without elements, and i32 indices. */
static void
test_edges (void)
{
  AdjKView none = kernel_array (ADJ_K_I64, 1, 0),
           i32 = kernel_array_of (ADJ_K_I32, (double[]){ 1 }, 1, 1);
  AdjKIndex index = { .x = counting (ADJ_K_F32, 2, 2, 2, 0),
                      .values = kernel_array (ADJ_K_F32, 2, 2, 2) };
  gint64 bad;

  g_assert_true (adj_k_index (&index, &bad));
  kernel_assert_equal (&index.values, (double[]){ 0, 1, 2, 3 });
  index.idx[1] = &none;
  index.values = kernel_array (ADJ_K_F32, 2, 2, 0);
  g_assert_true (adj_k_index (&index, &bad));
  index.idx[1] = &i32;
  index.values = kernel_array (ADJ_K_F32, 2, 2, 1);
  g_assert_true (adj_k_index (&index, &bad));
  kernel_assert_equal (&index.values, (double[]){ 1, 3 });
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels/index/embedding", test_embedding);
  g_test_add_func ("/kernels/index/embedding-backward", test_embedding_backward);
  g_test_add_func ("/kernels/index/select", test_select);
  g_test_add_func ("/kernels/index/index-add", test_index_add);
  g_test_add_func ("/kernels/index/gather", test_gather);
  g_test_add_func ("/kernels/index/scatter", test_scatter);
  g_test_add_func ("/kernels/index/scatter-rounds-once", test_scatter_rounds_once);
  g_test_add_func ("/kernels/index/index", test_index);
  g_test_add_func ("/kernels/index/index-apart", test_index_apart);
  g_test_add_func ("/kernels/index/index-put", test_index_put);
  g_test_add_func ("/kernels/index/edges", test_edges);

  return g_test_run ();
}
