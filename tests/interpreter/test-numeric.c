/* SPDX-License-Identifier: MIT */
/* Norms, units in the last place and tolerances of comparisons. */

#include <glib.h>
#include <math.h>

#include "interpreter/adj-numeric-internal.h"
#include "interpreter/adj-numeric.h"

static AdjTensorData *
tensor_f64 (const double *values, gint64 n)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F64, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };
  g_autoptr (GBytes) bytes = g_bytes_new (values, sizeof (double) * (gsize) n);
  g_autoptr (GError) error = NULL;
  AdjTensorData *data;

  adj_shape_init_ints (&meta.shape, 1, &n);
  data = adj_tensor_data_new (&meta, bytes, &error);
  g_assert_no_error (error);
  return data;
}

static AdjTensorDifference
compare_as (AdjDType dtype, const double *a, const double *r, gint64 n)
{
  g_autoptr (AdjTensorData) a64 = tensor_f64 (a, n);
  g_autoptr (AdjTensorData) r64 = tensor_f64 (r, n);
  g_autoptr (AdjTensorData) an = adj_tensor_data_cast (a64, dtype);
  g_autoptr (AdjTensorData) rn = adj_tensor_data_cast (r64, dtype);
  AdjTensorDifference difference;

  adj_tensor_compare (an, rn, &difference);
  return difference;
}

static void
test_known_norms (void)
{
  const double a[] = { 3, 0, 0, 1 }, r[] = { 3, 4, 0, 1 };
  AdjTensorDifference d = compare_as (ADJ_DTYPE_F64, a, r, 4);

  g_assert_cmpint (d.n, ==, 4);
  g_assert_cmpfloat (d.max_abs, ==, 4);
  g_assert_cmpint (d.max_index, ==, 1);
  g_assert_cmpfloat (d.mean_abs, ==, 1);
  g_assert_cmpfloat (d.scaled_max, ==, 1);
  g_assert_cmpfloat_with_epsilon (d.rel_l2, 4 / sqrt (26), 1e-15);
  g_assert_cmpfloat_with_epsilon (d.cosine, 10 / (sqrt (10) * sqrt (26)), 1e-15);
  g_assert_cmpint (d.n_not_close, ==, 1);
  g_assert_cmpint (d.not_close[0], ==, 1);
}

static void
test_equal_is_zero (void)
{
  const double a[] = { -0.5, 0, 7e300, NAN, INFINITY };
  AdjTensorDifference d = compare_as (ADJ_DTYPE_F64, a, a, 5);

  g_assert_cmpfloat (d.max_abs, ==, 0);
  g_assert_cmpint (d.n_class_mismatch, ==, 0);
  g_assert_cmpint (d.n_nan_a, ==, 1);
  g_assert_cmpint (d.n_inf_r, ==, 1);
  g_assert_cmpint (d.ulp[0], ==, 3);
}

static void
test_classes_mismatch (void)
{
  const double a[] = { NAN, INFINITY, -INFINITY, 1 }, r[] = { 1, -INFINITY, -INFINITY, 1 };
  AdjTensorDifference d = compare_as (ADJ_DTYPE_F32, a, r, 4);

  g_assert_cmpint (d.n_class_mismatch, ==, 2);
  g_assert_cmpint (d.n_not_close, ==, 2);
}

/* One unit in the last place of 1: 2^-52, 2^-23, 2^-7, 2^-10. */
static void
test_ulp_by_dtype (void)
{
  const struct
  {
    AdjDType dtype;
    double ulp;
  } rows[] = { { ADJ_DTYPE_F64, 0x1p-52 },
               { ADJ_DTYPE_F32, 0x1p-23 },
               { ADJ_DTYPE_BF16, 0x1p-7 },
               { ADJ_DTYPE_F16, 0x1p-10 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const double r[] = { 1, 1, -1 };
      const double a[] = { 1 + rows[i].ulp, 1 + 4 * rows[i].ulp, -1 };
      AdjTensorDifference d = compare_as (rows[i].dtype, a, r, 3);

      g_assert_cmpint (d.ulp[0], ==, 1);
      g_assert_cmpint (d.ulp[1], ==, 1);
      g_assert_cmpint (d.ulp[3], ==, 1);
    }
}

static void
test_quantiles_bracket (void)
{
  double a[1000], r[1000] = { 0 };
  AdjTensorDifference d;

  for (guint i = 0; i < 1000; i++)
    a[i] = i + 1;
  d = compare_as (ADJ_DTYPE_F64, a, r, 1000);
  g_assert_cmpfloat (d.p50_abs, >, 500 / 1.5);
  g_assert_cmpfloat (d.p50_abs, <, 500 * 1.5);
  g_assert_cmpfloat (d.p99_abs, >, 990 / 1.5);
  g_assert_cmpfloat (d.p99_abs, <, 990 * 1.5);
}

static void
test_shapes_differ (void)
{
  const double a[] = { 1, 2, 3 };
  g_autoptr (AdjTensorData) three = tensor_f64 (a, 3);
  g_autoptr (AdjTensorData) two = tensor_f64 (a, 2);
  AdjTensorDifference d;

  adj_tensor_compare (three, two, &d);
  g_assert_false (d.same_shape);
}

/* interpreter/SPEC.md §4: u (4 + 2 log2 K) for products, u (4 + log2 K) for sums. */
static void
test_bands (void)
{
  g_assert_cmpfloat (adj_band_limit (ADJ_BAND_EXACT, ADJ_DTYPE_F32, 64), ==, 0);
  g_assert_cmpfloat (adj_band_limit (ADJ_BAND_ROUNDED, ADJ_DTYPE_F32, 1), ==, 0x1p-23);
  g_assert_cmpfloat (adj_band_limit (ADJ_BAND_SMOOTH, ADJ_DTYPE_F64, 1), ==, 0x1p-50);
  g_assert_cmpfloat (adj_band_limit (ADJ_BAND_SUM, ADJ_DTYPE_F32, 64), ==, 10 * 0x1p-24);
  g_assert_cmpfloat (adj_band_limit (ADJ_BAND_PRODUCT, ADJ_DTYPE_BF16, 64), ==,
                     2 * 0x1p-8 + 14 * 0x1p-24);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/interpreter/numeric/known-norms", test_known_norms);
  g_test_add_func ("/interpreter/numeric/equal-is-zero", test_equal_is_zero);
  g_test_add_func ("/interpreter/numeric/classes-mismatch", test_classes_mismatch);
  g_test_add_func ("/interpreter/numeric/ulp-by-dtype", test_ulp_by_dtype);
  g_test_add_func ("/interpreter/numeric/quantiles-bracket", test_quantiles_bracket);
  g_test_add_func ("/interpreter/numeric/shapes-differ", test_shapes_differ);
  g_test_add_func ("/interpreter/numeric/bands", test_bands);
  return g_test_run ();
}
