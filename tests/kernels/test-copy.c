/* SPDX-License-Identifier: MIT */
/* Copies and casts between all types. */

#include <math.h>

#include "kernel-test.h"

static const AdjKType all_types[] = { ADJ_K_BOOL, ADJ_K_U8,  ADJ_K_I8,   ADJ_K_I16, ADJ_K_I32,
                                      ADJ_K_I64,  ADJ_K_F16, ADJ_K_BF16, ADJ_K_F32, ADJ_K_F64 };

static void
test_half_round_trip (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  AdjKView half = kernel_array (type, 1, 65536), wide = kernel_array (ADJ_K_F32, 1, 65536);
  AdjKView back = kernel_array (type, 1, 65536);
  guint16 *bits = half.data, *again = back.data;

  for (guint i = 0; i < 65536; i++)
    bits[i] = (guint16) i;
  adj_k_copy (&wide, &half);
  adj_k_copy (&back, &wide);

  for (guint i = 0; i < 65536; i++)
    {
      double x = kernel_array_get (&half, i);

      if (isnan (x))
        {
          g_assert_true (isnan (((float *) wide.data)[i]));
          g_assert_true (isnan (kernel_array_get (&back, i)));
          continue;
        }
      g_assert_cmpfloat (((float *) wide.data)[i], ==, (float) x);
      g_assert_cmphex (again[i], ==, i);
    }
}

/* Random bit patterns, and for each number of the type the midpoint to the next one and its
 * neighbours. */
static void
test_half_rounding (gconstpointer data)
{
  AdjKType type = GPOINTER_TO_UINT (data);
  AdjKView from = kernel_array (ADJ_K_F32, 1, 4 * 65536), to = kernel_array (type, 1, 4 * 65536);
  AdjKView expected = kernel_array (type, 1, 4 * 65536), half = kernel_array (type, 1, 65537);
  float *x = from.data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);

  for (guint i = 0; i < 65537; i++)
    ((guint16 *) half.data)[i] = (guint16) i;
  for (guint i = 0; i < 65536; i++)
    {
      guint32 bits = g_rand_int (rand);
      float low = (float) kernel_array_get (&half, i),
            next = (float) kernel_array_get (&half, i + 1);

      memcpy (&x[4 * i], &bits, sizeof bits);
      x[4 * i + 1] = low / 2 + next / 2;
      x[4 * i + 2] = nextafterf (x[4 * i + 1], INFINITY);
      x[4 * i + 3] = nextafterf (x[4 * i + 1], -INFINITY);
    }
  adj_k_copy (&to, &from);

  for (guint i = 0; i < 4 * 65536; i++)
    {
      kernel_array_set (&expected, i, x[i]);
      if (isnan (x[i]))
        g_assert_true (isnan (kernel_array_get (&to, i)));
      else
        g_assert_cmphex (((guint16 *) to.data)[i], ==, ((guint16 *) expected.data)[i]);
    }
}

/* The results of tensor.to (dtype) in PyTorch 2.6 on x86-64. */
static void
test_float_to_integer (void)
{
  const double x[] = { 1.9, -1.9, 0, -0.5, 300, -129, 1e10, NAN };
  const struct
  {
    AdjKType type;
    double expected[8];
  } rows[] = {
    { ADJ_K_BOOL, { 1, 1, 0, 1, 1, 1, 1, 1 } },
    { ADJ_K_U8, { 1, 255, 0, 0, 44, 127, 0, 0 } },
    { ADJ_K_I8, { 1, -1, 0, 0, 44, 127, 0, 0 } },
    { ADJ_K_I16, { 1, -1, 0, 0, 300, -129, -7168, 0 } },
    { ADJ_K_I32, { 1, -1, 0, 0, 300, -129, -0x1p31, -0x1p31 } },
    { ADJ_K_I64, { 1, -1, 0, 0, 300, -129, 1e10, -0x1p63 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint wide = 0; wide < 2; wide++)
      {
        AdjKView from = kernel_array_of (wide ? ADJ_K_F64 : ADJ_K_F32, x, 1, 8);
        AdjKView to = kernel_array (rows[i].type, 1, 8);

        adj_k_copy (&to, &from);
        kernel_assert_equal (&to, rows[i].expected);
      }
}

static void
test_integers_wrap (void)
{
  const double x[] = { -1, 300, 70000, 1 };
  AdjKView from = kernel_array_of (ADJ_K_I64, x, 1, 4);
  AdjKView u8 = kernel_array (ADJ_K_U8, 1, 4), i16 = kernel_array (ADJ_K_I16, 1, 4);

  adj_k_copy (&u8, &from);
  adj_k_copy (&i16, &from);
  kernel_assert_equal (&u8, (double[]){ 255, 44, 112, 1 });
  kernel_assert_equal (&i16, (double[]){ -1, 300, 4464, 1 });
}

/* Numbers representable in every type except bool keep their value between all pairs of types. */
static void
test_all_pairs (void)
{
  for (guint a = 1; a < G_N_ELEMENTS (all_types); a++)
    for (guint b = 1; b < G_N_ELEMENTS (all_types); b++)
      {
        AdjKView from = kernel_array (all_types[a], 2, 5, 25), to = from, back = from;

        for (int i = 0; i < 125; i++)
          kernel_array_set (&from, i, i);
        from = kernel_array_scramble (&from);
        to = kernel_array_like (all_types[b], &from);
        to = kernel_array_scramble (&to);
        adj_k_copy (&to, &from);
        for (int i = 0; i < 125; i++)
          g_assert_cmpfloat (kernel_array_get (&to, i), ==, i);
        back = kernel_array_like (all_types[a], &from);
        adj_k_copy (&back, &to);
        kernel_assert_same (&back, &from);
      }
}

/* 2^53 + 1 is not a double: integer copies must not convert through one. */
static void
test_big_integers (void)
{
  AdjKView from = kernel_array (ADJ_K_I64, 1, 1), to = kernel_array (ADJ_K_I64, 1, 1);
  AdjKView f32 = kernel_array (ADJ_K_F32, 1, 1);

  *(gint64 *) from.data = (G_GINT64_CONSTANT (1) << 53) + 1;
  adj_k_copy (&to, &from);
  g_assert_cmpint (*(gint64 *) to.data, ==, (G_GINT64_CONSTANT (1) << 53) + 1);
  adj_k_fill_i64 (&to, G_MAXINT64);
  g_assert_cmpint (*(gint64 *) to.data, ==, G_MAXINT64);

  /* a single rounding: through a double the sticky bit is lost and the tie is rounded down */
  *(gint64 *) from.data = (G_GINT64_CONSTANT (1) << 60) + (G_GINT64_CONSTANT (1) << 36) + 1;
  adj_k_copy (&f32, &from);
  g_assert_cmpfloat (*(float *) f32.data, ==, 0x1p60f + 0x1p37f);
}

static void
test_broadcast (void)
{
  AdjKView row = kernel_array_of (ADJ_K_F32, (double[]){ 1, 2, 3 }, 1, 3);
  AdjKView to = kernel_array (ADJ_K_F16, 2, 2, 3), same = kernel_array (ADJ_K_F32, 2, 2, 3);
  AdjKView wide = same;

  wide.data = row.data;
  wide.stride[0] = 0;
  adj_k_copy (&to, &wide);
  adj_k_copy (&same, &wide);
  kernel_assert_equal (&to, (double[]){ 1, 2, 3, 1, 2, 3 });
  kernel_assert_equal (&same, (double[]){ 1, 2, 3, 1, 2, 3 });
}

static void
test_empty_and_scalar (void)
{
  AdjKView empty = kernel_array (ADJ_K_F32, 3, 4, 0, 5),
           other = kernel_array (ADJ_K_I32, 3, 4, 0, 5);
  AdjKView scalar = kernel_array_of (ADJ_K_F32, (double[]){ 2.5 }, 0);
  AdjKView to = kernel_array (ADJ_K_F64, 0);

  adj_k_copy (&other, &empty);
  adj_k_copy (&empty, &empty);
  adj_k_copy (&to, &scalar);
  g_assert_cmpfloat (*(double *) to.data, ==, 2.5);
  g_assert_cmpint (adj_k_view_count (&empty), ==, 0);
  g_assert_cmpint (adj_k_view_count (&scalar), ==, 1);
}

/* Larger than a tile and than the share of one thread. */
static void
test_large_transpose (void)
{
  AdjKView from = kernel_array (ADJ_K_I32, 3, 3, 301, 97), to;
  AdjKView turned = from;

  for (int i = 0; i < 3 * 301 * 97; i++)
    ((gint32 *) from.data)[i] = i;
  turned.size[1] = 97;
  turned.size[2] = 301;
  turned.stride[1] = 1;
  turned.stride[2] = 97;
  to = kernel_array_like (ADJ_K_I32, &turned);
  adj_k_copy (&to, &turned);
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 301; i++)
      for (int j = 0; j < 97; j++)
        g_assert_cmpint (((gint32 *) to.data)[(a * 97 + j) * 301 + i], ==, (a * 301 + i) * 97 + j);
}

static void
test_iota (void)
{
  AdjKView f = kernel_array (ADJ_K_F32, 1, 1000), i = kernel_array (ADJ_K_I32, 2, 2, 3);

  adj_k_iota_f64 (&f, 1, 0.1);
  for (int k = 0; k < 1000; k++)
    g_assert_cmpfloat (((float *) f.data)[k], ==, (float) (1 + k * 0.1));
  i = kernel_array_scramble (&i);
  adj_k_iota_i64 (&i, 7, -2);
  kernel_assert_equal (&i, (double[]){ 7, 5, 3, 1, -1, -3 });
}

static void
test_triangles (void)
{
  const gint64 diagonals[] = { G_MININT64, -5, -2, -1, 0, 1, 2, 4, G_MAXINT64 };
  AdjKView x = kernel_array (ADJ_K_F32, 3, 2, 4, 3), to;

  for (int i = 0; i < 24; i++)
    kernel_array_set (&x, i, i + 1);
  x = kernel_array_scramble (&x);
  to = kernel_array_scramble (&x);
  for (guint d = 0; d < G_N_ELEMENTS (diagonals); d++)
    for (int upper = 0; upper < 2; upper++)
      {
        (upper ? adj_k_triu : adj_k_tril) (&to, &x, diagonals[d]);
        for (int k = 0; k < 24; k++)
          {
            int i = k / 3 % 4, j = k % 3;
            gboolean keeps = upper ? j - i >= diagonals[d] : j - i <= diagonals[d];

            g_assert_cmpfloat (kernel_array_get (&to, k), ==, keeps ? k + 1 : 0);
          }
      }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_data_func ("/kernels/copy/f16-round-trip", GUINT_TO_POINTER (ADJ_K_F16),
                        test_half_round_trip);
  g_test_add_data_func ("/kernels/copy/bf16-round-trip", GUINT_TO_POINTER (ADJ_K_BF16),
                        test_half_round_trip);
  g_test_add_data_func ("/kernels/copy/f16-rounding", GUINT_TO_POINTER (ADJ_K_F16),
                        test_half_rounding);
  g_test_add_data_func ("/kernels/copy/bf16-rounding", GUINT_TO_POINTER (ADJ_K_BF16),
                        test_half_rounding);
  g_test_add_func ("/kernels/copy/float-to-integer", test_float_to_integer);
  g_test_add_func ("/kernels/copy/integers-wrap", test_integers_wrap);
  g_test_add_func ("/kernels/copy/all-pairs", test_all_pairs);
  g_test_add_func ("/kernels/copy/big-integers", test_big_integers);
  g_test_add_func ("/kernels/copy/broadcast", test_broadcast);
  g_test_add_func ("/kernels/copy/empty-and-scalar", test_empty_and_scalar);
  g_test_add_func ("/kernels/copy/large-transpose", test_large_transpose);
  g_test_add_func ("/kernels/copy/iota", test_iota);
  g_test_add_func ("/kernels/copy/triangles", test_triangles);

  return g_test_run ();
}
