/* SPDX-License-Identifier: MIT */
#pragma once

#include <math.h>

#include "convert.h"

/* Limit of the length of sums and recurrences that an argument determines: beyond it the result is
 * NaN. */
#define MOST_TERMS 65536

/* The logarithm of the gamma function and its derivatives; in f32 rounded from f64. */

/* lgamma() would write the global variable signgam. */
INLINE double
m_lgamma_f64 (double x)
{
#ifdef __CUDACC__
  return lgamma (x);
#else
  int sign;

  return lgamma_r (x, &sign);
#endif
}

INLINE float
m_lgamma_f32 (float x)
{
  return (float) m_lgamma_f64 (x);
}

/* By reflection to x > 0, recurrence to x >= 10, and the asymptotic series there. */
INLINE double
m_digamma_f64 (double x)
{
  static const double series[] = { 1. / 12,  -691. / 32760, 1. / 132, -1. / 240,
                                   1. / 252, -1. / 120,     1. / 12 };
  double shift = 0, z, sum = 0;

  if (x == 0)
    return copysign (INFINITY, -x);
  if (x < 0)
    {
      if (x == floor (x))
        return NAN;
      shift = -M_PI / tan (M_PI * (x - trunc (x)));
      x = 1 - x;
    }
  for (; x < 10; x++)
    shift -= 1 / x;
  z = 1 / (x * x);
  for (int i = 0; i < 7; i++)
    sum = sum * z + series[i];
  return shift + log (x) - 0.5 / x - sum * z;
}

INLINE float
m_digamma_f32 (float x)
{
  return (float) m_digamma_f64 (x);
}

/* Σ (q + k)^−s over k ≥ 0, for s > 1 and q > 0: the terms before q = 10, then Euler and
 * Maclaurin's formula. */
INLINE double
hurwitz (double s, double q)
{
  /* B₂ₖ / (2k)! */
  static const double series[] = { 1. / 12,          -1. / 720,     1. / 30240,
                                   -1. / 1209600,    1. / 47900160, -691. / 1307674368000.,
                                   1. / 74724249600. };
  double sum = 0, term;

  for (; q < 10; q++)
    sum += pow (q, -s);
  term = pow (q, -s);
  if (term == 0)
    return sum;
  sum += term * q / (s - 1) + term / 2;
  term *= s / q;
  for (int i = 0; i < 7; i++)
    {
      sum += series[i] * term;
      term *= (s + 2 * i + 1) * (s + 2 * i + 2) / (q * q);
    }
  return sum;
}

/* The same for every q except 0, −1, …; if q < 0, s must be an integer, and the terms on both sides
 * of 0 are summed separately. */
INLINE double
hurwitz_anywhere (double s, double q)
{
  double part = q - floor (q), below;

  if (q > 0)
    return isinf (q) ? 0 : hurwitz (s, q);
  below = hurwitz (s, 1 - part) - hurwitz (s, 1 - q);
  return hurwitz (s, part) + (fmod (s, 2.) == 0 ? below : -below);
}

/* (−1)^(n + 1) n! Σ (x + k)^−(n + 1) */
INLINE double
m_polygamma_f64 (double n, double x)
{
  double s = n + 1, scale = fmod (n, 2.) == 1 ? tgamma (s) : -tgamma (s);

  if (n == 0)
    return m_digamma_f64 (x);
  if (isnan (x) || n < 0)
    return NAN;
  return scale * (x <= 0 && x == floor (x) ? (double) INFINITY : hurwitz_anywhere (s, x));
}

INLINE float
m_polygamma_f32 (float n, float x)
{
  return (float) m_polygamma_f64 (n, x);
}

/* ln (π^(p (p − 1) / 4) Γ (x) Γ (x − ½) … Γ (x − (p − 1) / 2)), for p up to MOST_TERMS */
INLINE double
m_mvlgamma_f64 (double p, double x)
{
  double sum = p * (p - 1) / 4 * 1.1447298858494002;

  if (!(p <= MOST_TERMS))
    return NAN;
  for (int i = 0; i < p; i++)
    sum += m_lgamma_f64 (x - i / 2.);
  return sum;
}

INLINE float
m_mvlgamma_f32 (float p, float x)
{
  return (float) m_mvlgamma_f64 (p, x);
}
