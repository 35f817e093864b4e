/* SPDX-License-Identifier: MIT */
#pragma once

#include "gamma.h"

/* Special functions, in f64 by series, continued fractions and sums; in f32 rounded from that. */

#define SPECIAL_UNARY(name)                                                                        \
  INLINE float m_##name##_f32 (float x) { return (float) m_##name##_f64 (x); }

#define SPECIAL_BINARY(name)                                                                       \
  INLINE float m_##name##_f32 (float x, float y) { return (float) m_##name##_f64 (x, y); }

/* --- of the normal distribution ----------------------------------------------------------------
 */

/* e^(x²) erfc x: corrected by the rounding error of x², or for large x by the continued fraction 1
 * / (x + 1/2 / (x + 1 / (x + 3/2 / …))) / √π from its 60th term on. */
INLINE double
m_erfcx_f64 (double x)
{
  double y = x;

  if (x < 6)
    {
      double square = x * x, rest = fma (x, x, -square), power = exp (square);

      return isinf (power) ? (x < 0 ? 2 * power : x) : (power + power * rest) * erfc (x);
    }
  for (int i = 60; i > 0; i--)
    y = x + 0.5 * i / y;
  return 0.5641895835477563 / y;
}

SPECIAL_UNARY (erfcx)

/* The y > 0 with erfc (y) = q, 0 < q <= 1: by Newton's method for ln erfc, which is nearly a
 * parabola. */
INLINE double
erfc_inverse (double q)
{
  double u = log (q) + log (2 - q), a = 4.3307467508 + u / 2;
  double y = sqrt (sqrt (a * a - u / 0.147) - a);

  for (int i = 0; i < 4; i++)
    y += (log (erfc (y)) - log (q)) * erfc (y) * exp (y * y) * 0.886226925452758;
  return y;
}

INLINE double
m_erfinv_f64 (double x)
{
  double a = fabs (x), y = a * (0.886226925452758 + 0.232013666534654 * a * a);

  if (!(a <= 1) || a == 1)
    return a == 1 ? copysign (INFINITY, x) : NAN;
  if (a > 0.5)
    return copysign (erfc_inverse (1 - a), x);
  for (int i = 0; i < 4; i++)
    y -= (erf (y) - a) * exp (y * y) * 0.886226925452758;
  return copysign (y, x);
}

SPECIAL_UNARY (erfinv)

/* The quantile of the normal distribution for probability @p. */
INLINE double
m_ndtri_f64 (double p)
{
  double q = 2 * (p < 0.5 ? p : 1 - p), x;

  if (!(q > 0))
    return q == 0 ? (p < 0.5 ? -INFINITY : INFINITY) : NAN;
  x = M_SQRT2 * (q > 0.5 ? m_erfinv_f64 (1 - q) : erfc_inverse (q));
  return p < 0.5 ? -x : x;
}

SPECIAL_UNARY (ndtri)

/* --- Bessel functions --------------------------------------------------------------------------
 */

/* e^(−x) I_n (x) for x >= 0 and n of 0 or 1: by the power series, all of one sign, or for large x
 * by that of inverse powers. */
INLINE double
scaled_bessel_i (int n, double x)
{
  double sum = 1, term = 1;

  if (x > 30)
    {
      for (int k = 1; k < 40; k++)
        {
          term *= -(4. * n - (2. * k - 1) * (2. * k - 1)) / (8 * k * x);
          sum += term;
        }
      return isinf (x) ? 0 : sum / sqrt (x) * 0.3989422804014327;
    }
  for (int k = 1; term > sum * 1e-18; k++)
    {
      term *= x * x / 4 / (k * (double) (k + n));
      sum += term;
    }
  return (n == 0 ? sum : sum * x / 2) * exp (-x);
}

INLINE double
m_i0e_f64 (double x)
{
  return x != x ? x : scaled_bessel_i (0, fabs (x));
}

INLINE double
m_i1e_f64 (double x)
{
  return x != x ? x : copysign (scaled_bessel_i (1, fabs (x)), x);
}

INLINE double
m_i0_f64 (double x)
{
  double root = exp (fabs (x) / 2);

  return m_i0e_f64 (x) * root * root;
}

INLINE double
m_i1_f64 (double x)
{
  double root = exp (fabs (x) / 2);

  return m_i1e_f64 (x) * root * root;
}

/* e^x K_n (x) = ∫ e^(−x (cosh t − 1)) cosh n t dt over t >= 0, by the trapezoidal rule, whose error
 * vanishes exponentially with the step. */
INLINE double
scaled_bessel_k (double n, double x)
{
  double step = x > 32 ? 0.6 / sqrt (x) : 0.1, sum = 0.5;

  if (!(x > 0))
    return x == 0 ? INFINITY : NAN;
  for (int i = 1;; i++)
    {
      double half = sinh (i * step / 2), term = exp (-2 * x * half * half) * cosh (n * i * step);

      sum += term;
      if (!(term > sum * 1e-18))
        return isinf (x) ? 0 : sum * step;
    }
}

#define SPECIAL_BESSEL_K(n)                                                                        \
  INLINE double m_k##n##e_f64 (double x) { return scaled_bessel_k (n, x); }                        \
  INLINE double m_k##n##_f64 (double x)                                                            \
  {                                                                                                \
    return isinf (x) && x > 0 ? 0 : scaled_bessel_k (n, x) * exp (-x);                             \
  }

SPECIAL_BESSEL_K (0)
SPECIAL_BESSEL_K (1)

#define SPECIAL_LIBM(name)                                                                         \
  INLINE double m_##name##_f64 (double x) { return name (x); }                                     \
  SPECIAL_UNARY (name)

SPECIAL_LIBM (j0)
SPECIAL_LIBM (j1)
SPECIAL_LIBM (y0)
SPECIAL_LIBM (y1)
SPECIAL_UNARY (i0)
SPECIAL_UNARY (i1)
SPECIAL_UNARY (i0e)
SPECIAL_UNARY (i1e)
SPECIAL_UNARY (k0)
SPECIAL_UNARY (k1)
SPECIAL_UNARY (k0e)
SPECIAL_UNARY (k1e)

/* --- of two arguments --------------------------------------------------------------------------
 */

/* Hurwitz' zeta function, Σ (q + k)^−s. */
INLINE double
m_zeta_f64 (double s, double q)
{
  if (s == 1)
    return INFINITY;
  if (s < 1)
    return NAN;
  if (q <= 0 && (q == floor (q) || isinf (s)))
    return INFINITY;
  return isnan (s + q) || (q <= 0 && s != floor (s)) ? NAN : hurwitz_anywhere (s, q);
}

/* For large a: the first two terms of Temme's uniform expansion, with an error of 1 / a of the
 * second. μ = x / a − 1, η² / 2 = μ − ln (1 + μ), η with the sign of μ. */
INLINE double
incomplete_gamma_of_large (double a, double x, int upper)
{
  double mu = (x - a) / a,
         half = fabs (mu) < 1e-4 ? mu * mu * (0.5 - mu / 3 + mu * mu / 4) : mu - log1p (mu);
  double eta = copysign (sqrt (2 * half), mu), sign = upper ? 1 : -1;
  double rest = fabs (mu) < 1e-4 ? -1. / 3 + mu / 12 : 1 / mu - 1 / eta;

  return erfc (sign * sqrt (a * half) * (eta < 0 ? -1 : 1)) / 2 +
         sign * rest * exp (-a * half) / sqrt (2 * M_PI * a);
}

/* x^a e^(−x) / Γ (a) times the series of the lower function for small x, or the continued fraction
 * of the upper one by Lentz' method. */
INLINE double
incomplete_gamma (double a, double x, int upper)
{
  double scale = exp (a * log (x) - x - m_lgamma_f64 (a)), sum = 1 / a, term = 1 / a;
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;

  if (a > 1e6)
    return incomplete_gamma_of_large (a, x, upper);
  if (x < a + 1)
    {
      for (double n = a + 1; term > sum * 1e-17; n++)
        sum += term *= x / n;
      return upper ? 1 - scale * sum : scale * sum;
    }
  for (int i = 1; i < 10000; i++)
    {
      double an = -i * (i - a), ratio;

      b += 2;
      d = 1 / (an * d + b);
      c = b + an / c;
      ratio = c * d;
      h *= ratio;
      if (fabs (ratio - 1) < 1e-16)
        break;
    }
  return upper ? scale * h : 1 - scale * h;
}

/* The values at the edges of the domain; 2 inside of it. */
INLINE double
incomplete_gamma_edge (double a, double x)
{
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0) || (isinf (a) && isinf (x)))
    return NAN;
  if (a == 0 || isinf (x))
    return 1;
  return x == 0 || isinf (a) ? 0 : 2;
}

INLINE double
m_igamma_f64 (double a, double x)
{
  double edge = incomplete_gamma_edge (a, x);

  return edge == 2 ? incomplete_gamma (a, x, 0) : edge;
}

INLINE double
m_igammac_f64 (double a, double x)
{
  double edge = incomplete_gamma_edge (a, x);

  return edge == 2 ? incomplete_gamma (a, x, 1) : 1 - edge;
}

SPECIAL_BINARY (zeta)
SPECIAL_BINARY (igamma)
SPECIAL_BINARY (igammac)
