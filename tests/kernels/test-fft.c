/* SPDX-License-Identifier: MIT */
/* Fourier transforms of many lengths. */

#include <glib.h>
#include <math.h>

#include "adj-kernel-fft.h"

/* Compares transforms with direct sums in long double. */

static const gint64 lengths[] = { 1,  2,  3,  4,  5,  6,  7,   8,   9,   12,  15,   16,
                                  17, 30, 61, 64, 67, 97, 100, 128, 134, 211, 1009, 1331 };

static double *
draw (GRand *rand, gint64 n)
{
  double *x = g_new (double, 2 * n);

  for (gint64 i = 0; i < 2 * n; i++)
    x[i] = g_rand_double_range (rand, -1, 1);
  return x;
}

/* |y - F x| / |F x| */
static double
error_of (const double *x, const double *y, gint64 n, int sign)
{
  long double errors = 0, squares = 0;

  for (gint64 k = 0; k < n; k++)
    {
      long double re = 0, im = 0;

      for (gint64 j = 0; j < n; j++)
        {
          long double angle =
              sign * 2 * acosl (-1.0L) * (long double) (j * k % n) / (long double) n;

          re += x[2 * j] * cosl (angle) - x[2 * j + 1] * sinl (angle);
          im += x[2 * j] * sinl (angle) + x[2 * j + 1] * cosl (angle);
        }
      errors += (y[2 * k] - re) * (y[2 * k] - re) + (y[2 * k + 1] - im) * (y[2 * k + 1] - im);
      squares += re * re + im * im;
    }
  return (double) sqrtl (errors / squares);
}

static void
is_the_sum (void)
{
  GRand *rand = g_rand_new_with_seed (1);

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    for (int backward = 0; backward < 2; backward++)
      {
        gint64 n = lengths[i];
        AdjKFft *fft = adj_k_fft_new (n);
        g_autofree double *x = draw (rand, n);
        g_autofree double *y = g_memdup2 (x, (gsize) (2 * n) * sizeof *x);
        double error;

        adj_k_fft_run (fft, y, backward);
        error = error_of (x, y, n, backward ? 1 : -1);
        if (!(error < 8 * 0x1p-53))
          g_test_message ("of length %" G_GINT64_FORMAT " off by %g u", n, error * 0x1p53);
        g_assert_cmpfloat (error, <, 8 * 0x1p-53);
        adj_k_fft_free (fft);
      }
  g_rand_free (rand);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/kernels/fft/is-the-sum", is_the_sum);

  return g_test_run ();
}
