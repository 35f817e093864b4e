/* SPDX-License-Identifier: MIT */
/* Statistics of one tensor and of two. */

#include <math.h>

#include "model/adj-tensor-stats.h"

static AdjTensorData *
make (const double *values, guint n)
{
  g_autoptr (GBytes) bytes = g_bytes_new (values, n * sizeof *values);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F64, .device = ADJ_CPU, .storage = -1 };
  g_autoptr (GError) error = NULL;
  AdjTensorData *data;

  adj_shape_init_ints (&meta.shape, 1, (gint64[]){ n });
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  return data;
}

static void
test_known (void)
{
  const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
  g_autoptr (AdjTensorData) data = make (values, G_N_ELEMENTS (values));
  AdjTensorStats stats;
  guint total = 0;

  adj_tensor_stats_compute (data, &stats);
  g_assert_cmpint (stats.n, ==, 8);
  g_assert_cmpfloat (stats.mean, ==, 5);
  g_assert_cmpfloat (stats.min, ==, 2);
  g_assert_cmpfloat (stats.max, ==, 9);
  /* The sum of squared deviations from 5 is 32. */
  g_assert_cmpfloat_with_epsilon (stats.deviation, sqrt (32.0 / 7), 1e-12);
  for (guint i = 0; i < ADJ_STATS_BINS; i++)
    total += stats.bins[i];
  g_assert_cmpuint (total, ==, 8);
  g_assert_cmpuint (stats.bins[0], ==, 1);
  g_assert_cmpuint (stats.bins[ADJ_STATS_BINS - 1], ==, 1);
  g_assert_cmpuint (stats.largest_bin, ==, 3);
}

static void
test_not_finite (void)
{
  const double some[] = { NAN, INFINITY, -INFINITY, 3 }, none[] = { NAN };
  g_autoptr (AdjTensorData) data = make (some, G_N_ELEMENTS (some));
  g_autoptr (AdjTensorData) empty = make (none, 1);
  AdjTensorStats stats;

  adj_tensor_stats_compute (data, &stats);
  g_assert_cmpint (stats.n_nan, ==, 1);
  g_assert_cmpint (stats.n_inf, ==, 2);
  g_assert_cmpfloat (stats.mean, ==, 3);
  g_assert_cmpfloat (stats.deviation, ==, 0);
  adj_tensor_stats_compute (empty, &stats);
  g_assert_true (isnan (stats.mean));
  g_assert_cmpuint (stats.largest_bin, ==, 0);
}

/* Both use one range: 0 to 31 in steps of one. */
static void
test_both (void)
{
  const double low[] = { 0, 3.5, 3.5, NAN }, high[] = { 31.5, 32, 3.2, INFINITY };
  const double none[] = { NAN };
  g_autoptr (AdjTensorData) a = make (low, G_N_ELEMENTS (low));
  g_autoptr (AdjTensorData) b = make (high, G_N_ELEMENTS (high));
  g_autoptr (AdjTensorData) empty = make (none, 1);
  AdjTensorStats one, other;

  adj_tensor_stats_compute_both (a, b, &one, &other);
  g_assert_cmpfloat (one.low, ==, 0);
  g_assert_cmpfloat (one.high, ==, 32);
  g_assert_cmpfloat (one.max, ==, 3.5);
  g_assert_cmpfloat (other.low, ==, 0);
  g_assert_cmpfloat (other.min, ==, 3.2);
  g_assert_cmpuint (one.bins[0], ==, 1);
  g_assert_cmpuint (one.bins[3], ==, 2);
  g_assert_cmpuint (one.largest_bin, ==, 2);
  g_assert_cmpuint (other.bins[3], ==, 1);
  g_assert_cmpuint (other.bins[31], ==, 2);

  adj_tensor_stats_compute_both (a, empty, &one, &other);
  g_assert_cmpfloat (one.high, ==, 3.5);
  g_assert_cmpuint (other.largest_bin, ==, 0);
}

static void
test_first (void)
{
  const double values[] = { 0, -0.5, 1e-9, 3 };
  g_autoptr (AdjTensorData) data = make (values, G_N_ELEMENTS (values));
  g_autofree char *three = adj_tensor_stats_first (data, 3);
  g_autofree char *all = adj_tensor_stats_first (data, 9);

  g_assert_cmpstr (three, ==, "0, -0.5, 1.00e-09, …");
  g_assert_cmpstr (all, ==, "0, -0.5, 1.00e-09, 3");
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/ui/tensor-stats/known", test_known);
  g_test_add_func ("/ui/tensor-stats/not-finite", test_not_finite);
  g_test_add_func ("/ui/tensor-stats/both", test_both);
  g_test_add_func ("/ui/tensor-stats/first", test_first);
  return g_test_run ();
}
