/* SPDX-License-Identifier: MIT */
/* Losses, against PyTorch. */

#include <math.h>

#include "kernel-test.h"

static const double xs[] = { 0.5, -1, 2, 1, 0.25, -0.5, 0.125, 0.25, 0.375 };

/* Results of PyTorch 2.6 for the x above, targets 2 0 1, weights 1 2 ½, and an incoming gradient
 * of 2. */
static const struct
{
  int reduction;
  gboolean weighted;
  gint64 ignore;
  double out[3], total;
  double gx[3]; /* elements at the targets; others are 0 */
} rows[] = {
  { 0, FALSE, -100, { -2, -1, -0.25 }, 0, { -2, -2, -2 } },
  { 0, FALSE, 0, { -2, 0, -0.25 }, 0, { -2, 0, -2 } },
  { 0, TRUE, -100, { -1, -1, -0.5 }, 0, { -1, -2, -4 } },
  { 0, TRUE, 0, { -1, 0, -0.5 }, 0, { -1, 0, -4 } },
  { 1, FALSE, -100, { -3.25 / 3 }, 3, { -2. / 3, -2. / 3, -2. / 3 } },
  { 1, FALSE, 0, { -1.125 }, 2, { -1, 0, -1 } },
  { 1, TRUE, -100, { -2.5 / 3.5 }, 3.5, { -1 / 3.5, -2 / 3.5, -4 / 3.5 } },
  { 1, TRUE, 0, { -0.6 }, 2.5, { -0.4, 0, -1.6 } },
  { 2, FALSE, -100, { -3.25 }, 3, { -2, -2, -2 } },
  { 2, FALSE, 0, { -2.25 }, 2, { -2, 0, -2 } },
  { 2, TRUE, -100, { -2.5 }, 3.5, { -1, -2, -4 } },
  { 2, TRUE, 0, { -1.5 }, 2.5, { -1, 0, -4 } },
};

static void
test_nll (void)
{
  static const int targets[] = { 2, 0, 1 };
  AdjKView w = kernel_array_of (ADJ_K_F32, (double[]){ 1, 2, 0.5 }, 1, 3);

  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      AdjKView x = kernel_array_of (ADJ_K_F32, xs, 2, 3, 3), gx,
               total = kernel_array (ADJ_K_F32, 0);
      AdjKView out =
          rows[r].reduction ? kernel_array (ADJ_K_F32, 0) : kernel_array (ADJ_K_F32, 1, 3);
      AdjKView g = kernel_array_like (ADJ_K_F32, &out);
      gint64 bad = 77;
      AdjKNll nll = {
        .x = kernel_array_scramble (&x),
        .target = kernel_array_of (ADJ_K_I64, (double[]){ 2, 0, 1 }, 1, 3),
        .weight = rows[r].weighted ? &w : NULL,
        .reduction = rows[r].reduction,
        .ignore_index = rows[r].ignore,
      };

      g_assert_true (adj_k_nll_loss (&nll, &out, &total, &bad));
      for (gint64 i = 0; i < adj_k_view_count (&out); i++)
        kernel_assert_near (kernel_array_get (&out, i), rows[r].out[i], 1e-7);
      kernel_assert_equal (&total, &rows[r].total);

      adj_k_fill_f64 (&g, 2);
      gx = kernel_array_scramble (&x);
      g_assert_true (adj_k_nll_loss_backward (&nll, &gx, &g, &total, &bad));
      for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
          kernel_assert_near (kernel_array_get (&gx, 3 * i + c),
                              c == targets[i] ? rows[r].gx[i] : 0, 2e-7);
    }
}

/* A mean over no targets is 0 / 0. */
static void
test_all_ignored (void)
{
  AdjKView out = kernel_array (ADJ_K_F32, 0), total = kernel_array (ADJ_K_F32, 0);
  gint64 bad;
  AdjKNll nll = {
    .x = kernel_array_of (ADJ_K_F32, xs, 2, 3, 3),
    .target = kernel_array_of (ADJ_K_I64, (double[]){ -1, -1, -1 }, 1, 3),
    .reduction = 1,
    .ignore_index = -1,
  };

  g_assert_true (adj_k_nll_loss (&nll, &out, &total, &bad));
  kernel_assert_equal (&out, (double[]){ NAN });
  kernel_assert_equal (&total, (double[]){ 0 });
}

static void
test_bad_target (void)
{
  AdjKView out = kernel_array (ADJ_K_F32, 0), total = kernel_array (ADJ_K_F32, 0);
  AdjKNll nll = { .x = kernel_array_of (ADJ_K_F32, xs, 2, 3, 3),
                  .reduction = 1,
                  .ignore_index = -100 };
  const double targets[][3] = { { 0, 3, 9 }, { 1, 1, -1 } };
  const gint64 expected[] = { 3, -1 };

  for (int i = 0; i < 2; i++)
    {
      gint64 bad = 0;

      nll.target = kernel_array_of (ADJ_K_I64, targets[i], 1, 3);
      g_assert_false (adj_k_nll_loss (&nll, &out, &total, &bad));
      g_assert_cmpint (bad, ==, expected[i]);
      bad = 0;
      g_assert_false (adj_k_nll_loss_backward (&nll, &nll.x, &out, &total, &bad));
      g_assert_cmpint (bad, ==, expected[i]);
    }
}

/* One sample without a batch dim, in bf16 and f64. */
static void
test_unbatched (void)
{
  const AdjKType types[] = { ADJ_K_BF16, ADJ_K_F64 };

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    {
      AdjKView out = kernel_array (types[t], 0), total = kernel_array (types[t], 0);
      AdjKView gx = kernel_array (types[t], 1, 3),
               g = kernel_array_of (types[t], (double[]){ 4 }, 0);
      gint64 bad;
      AdjKNll nll = {
        .x = kernel_array_of (types[t], xs, 1, 3),
        .target = kernel_array_of (ADJ_K_I64, (double[]){ 2 }, 0),
        .reduction = (int) t,
        .ignore_index = -100,
      };

      g_assert_true (adj_k_nll_loss (&nll, &out, &total, &bad));
      kernel_assert_equal (&out, (double[]){ -2 });
      g_assert_true (adj_k_nll_loss_backward (&nll, &gx, &g, &total, &bad));
      kernel_assert_equal (&gx, (double[]){ 0, 0, -4 });
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels/loss/nll", test_nll);
  g_test_add_func ("/kernels/loss/all-ignored", test_all_ignored);
  g_test_add_func ("/kernels/loss/bad-target", test_bad_target);
  g_test_add_func ("/kernels/loss/unbatched", test_unbatched);

  return g_test_run ();
}
