/* SPDX-License-Identifier: MIT */
/* Fourier transforms.
 *
 * A length is factorised into primes: p transforms of length n / p over every p-th element, then p
 * sums for each k (decimation in time).  With a prime factor above DIRECT, the whole transform is a
 * convolution with e^(πi j² / n), of a length that is a power of two (Bluestein). */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adj-kernel-fft.h"

#define DIRECT 64
#define MAX_FACTORS 64

struct AdjKFft
{
  int64_t n;
  int factor[MAX_FACTORS]; /* of n, or of the length of the convolution */
  int n_factors;
  double *root; /* e^(-2πi k / n), pairs */
  double *work;
  /* For a convolution only. */
  AdjKFft *inner; /* of length m */
  double *chirp;  /* e^(-πi j² / n), n pairs */
  double *kernel; /* the transform of its conjugate, over m */
};

/* e^(-2πi k / n): from an angle of at most π / 4. */
static void
unit_root (int64_t k, int64_t n, double out[2])
{
  const double pi = 3.14159265358979323846;
  int64_t eighth = 8 * k / n, quarter = (eighth + 1) / 2;
  double angle = 2 * pi * ((double) (4 * k - quarter * n) / 4) / (double) n;
  double c = cos (angle), s = sin (angle);
  const double turned[4][2] = { { c, -s }, { -s, -c }, { -c, s }, { s, c } };

  out[0] = turned[quarter % 4][0];
  out[1] = turned[quarter % 4][1];
}

static double *
new_numbers (int64_t n)
{
  return calloc ((size_t) n, 2 * sizeof (double));
}

/* Sets the factors; false when one is too large. */
static bool
factorize (AdjKFft *fft)
{
  int64_t rest = fft->n;

  for (int64_t p = 4; rest > 1; p = p == 4 ? 2 : p == 2 ? 3 : p + 2)
    {
      if (p > DIRECT)
        return false;
      for (; rest % p == 0; rest /= p)
        fft->factor[fft->n_factors++] = (int) p;
    }
  return true;
}

/* -- one length by its factors -- */

static void
multiply (const double *a, const double *b, double *out)
{
  double re = a[0] * b[0] - a[1] * b[1];

  out[1] = a[0] * b[1] + a[1] * b[0];
  out[0] = re;
}

/* Combines the @p transforms of @m numbers in @out to one. */
static void
combine (const AdjKFft *fft, double *out, int p, int64_t m)
{
  int64_t step = fft->n / (p * m);
  double x[2 * DIRECT], sum[2], product[2];

  for (int64_t k = 0; k < m; k++)
    {
      for (int q = 0; q < p; q++)
        multiply (&out[2 * (q * m + k)], &fft->root[2 * (q * k * step)], &x[2 * q]);
      for (int r = 0; r < p; r++)
        {
          memcpy (sum, x, sizeof sum);
          for (int q = 1; q < p; q++)
            {
              multiply (&x[2 * q], &fft->root[2 * ((int64_t) (q * r % p) * m * step)], product);
              sum[0] += product[0];
              sum[1] += product[1];
            }
          memcpy (&out[2 * (r * m + k)], sum, sizeof sum);
        }
    }
}

/* As combine() with p = 4, without products. */
static void
combine_4 (const AdjKFft *fft, double *out, int64_t m)
{
  int64_t step = fft->n / (4 * m);

  for (int64_t k = 0; k < m; k++)
    {
      double x[4][2], *at[4];

      for (int q = 0; q < 4; q++)
        {
          at[q] = &out[2 * (q * m + k)];
          multiply (at[q], &fft->root[2 * (q * k * step)], x[q]);
        }
      for (int i = 0; i < 2; i++)
        {
          double turned = i == 0 ? x[1][1] - x[3][1] : x[3][0] - x[1][0];

          at[0][i] = x[0][i] + x[2][i] + (x[1][i] + x[3][i]);
          at[2][i] = x[0][i] + x[2][i] - (x[1][i] + x[3][i]);
          at[1][i] = x[0][i] - x[2][i] + turned;
          at[3][i] = x[0][i] - x[2][i] - turned;
        }
    }
}

static void
transform (const AdjKFft *fft, const double *in, int64_t stride, int factor, int64_t n, double *out)
{
  int p = n > 1 ? fft->factor[factor] : 1;
  int64_t m = n / p;

  if (n == 1)
    {
      memcpy (out, in, 2 * sizeof *out);
      return;
    }
  for (int q = 0; q < p; q++)
    transform (fft, in + 2 * q * stride, stride * p, factor + 1, m, out + 2 * q * m);
  if (p == 4)
    combine_4 (fft, out, m);
  else
    combine (fft, out, p, m);
}

/* -- any length, as a convolution -- */

static void
convolve (AdjKFft *fft, double *x)
{
  int64_t m = fft->inner->n;

  memset (fft->work, 0, 2 * (size_t) m * sizeof *x);
  for (int64_t j = 0; j < fft->n; j++)
    multiply (&x[2 * j], &fft->chirp[2 * j], &fft->work[2 * j]);
  adj_k_fft_run (fft->inner, fft->work, false);
  for (int64_t k = 0; k < m; k++)
    multiply (&fft->work[2 * k], &fft->kernel[2 * k], &fft->work[2 * k]);
  adj_k_fft_run (fft->inner, fft->work, true);
  for (int64_t j = 0; j < fft->n; j++)
    {
      multiply (&fft->work[2 * j], &fft->chirp[2 * j], &x[2 * j]);
      x[2 * j] /= (double) m;
      x[2 * j + 1] /= (double) m;
    }
}

static bool
plan_convolution (AdjKFft *fft)
{
  int64_t m = 1;

  while (m < 2 * fft->n - 1)
    m *= 2;
  fft->inner = adj_k_fft_new (m);
  fft->chirp = new_numbers (fft->n);
  fft->kernel = new_numbers (m);
  fft->work = new_numbers (m);
  if (fft->inner == NULL || fft->chirp == NULL || fft->kernel == NULL || fft->work == NULL)
    return false;
  for (int64_t j = 0, square = 0; j < fft->n; j++)
    {
      unit_root (square, 2 * fft->n, &fft->chirp[2 * j]);
      square = (square + 2 * j + 1) % (2 * fft->n);
      for (int64_t at = j;; at = m - j)
        {
          fft->kernel[2 * at] = fft->chirp[2 * j];
          fft->kernel[2 * at + 1] = -fft->chirp[2 * j + 1];
          if (at != j || j == 0)
            break;
        }
    }
  adj_k_fft_run (fft->inner, fft->kernel, false);
  return true;
}

static bool
plan_factors (AdjKFft *fft)
{
  fft->root = new_numbers (fft->n);
  fft->work = new_numbers (fft->n);
  if (fft->root == NULL || fft->work == NULL)
    return false;
  for (int64_t k = 0; k < fft->n; k++)
    unit_root (k, fft->n, &fft->root[2 * k]);
  return true;
}

/* -- plans -- */

AdjKFft *
adj_k_fft_new (int64_t n)
{
  AdjKFft *fft = calloc (1, sizeof *fft);

  if (fft == NULL)
    return NULL;
  fft->n = n;
  if (factorize (fft) ? plan_factors (fft) : plan_convolution (fft))
    return fft;
  adj_k_fft_free (fft);
  return NULL;
}

void
adj_k_fft_free (AdjKFft *fft)
{
  if (fft == NULL)
    return;
  adj_k_fft_free (fft->inner);
  free (fft->root);
  free (fft->work);
  free (fft->chirp);
  free (fft->kernel);
  free (fft);
}

/* A backward transform is a forward one between two conjugations. */
static void
conjugate (double *x, int64_t n)
{
  for (int64_t k = 0; k < n; k++)
    x[2 * k + 1] = -x[2 * k + 1];
}

void
adj_k_fft_run (AdjKFft *fft, double *x, bool backward)
{
  if (backward)
    conjugate (x, fft->n);
  if (fft->inner != NULL)
    convolve (fft, x);
  else
    {
      memcpy (fft->work, x, 2 * (size_t) fft->n * sizeof *x);
      transform (fft, fft->work, 1, 0, fft->n, x);
    }
  if (backward)
    conjugate (x, fft->n);
}
