/* SPDX-License-Identifier: MIT */
#pragma once

#include "special.h"

/* Orthogonal polynomials of x, of degree n. */

/* @n if it fits into a 64-bit integer, truncated; else −1, for which a polynomial is 0. */
INLINE double
degree (double n)
{
  return n < 0x1p63 ? trunc (n) : -1;
}

/* sin ((n + 1) t) / sin t of x = cos t */
INLINE double
chebyshev_closed (double x, double n)
{
  double t = fabs (x) > 1 ? acosh (fabs (x)) : acos (fabs (x)), u;

  if (t == 0)
    u = n + 1;
  else
    u = fabs (x) > 1 ? sinh ((n + 1) * t) / sinh (t) : sin ((n + 1) * t) / sin (t);
  return x < 0 && fmod (n, 2.) == 1 ? -u : u;
}

/* p of degree n where pₖ₊₁ = 2 x pₖ − pₖ₋₁, p₀ = 1, p₁ = @first: by recurrence, or for high degrees
 * by the closed form of the polynomial with p₁ = 2 x. */
INLINE double
chebyshev (double x, double n, double first)
{
  double last = 1, p = first;

  n = degree (n);
  if (!(n > 0))
    return n == 0;
  if (n > 4096)
    return chebyshev_closed (x, n) + (first - 2 * x) * chebyshev_closed (x, n - 1);
  for (; n > 1; n--)
    {
      double then = 2 * x * p - last;

      last = p;
      p = then;
    }
  return p;
}

#define SPECIAL_CHEBYSHEV(name, first)                                                             \
  INLINE double m_##name##_f64 (double x, double n) { return chebyshev (x, n, first); }            \
  SPECIAL_BINARY (name)

SPECIAL_CHEBYSHEV (chebyshev_t, x)
SPECIAL_CHEBYSHEV (chebyshev_u, 2 * x)
SPECIAL_CHEBYSHEV (chebyshev_v, 2 * x - 1)
SPECIAL_CHEBYSHEV (chebyshev_w, 2 * x + 1)

/* By a recurrence from p₀ = 1 and p₁ = @first up to a degree; @next is p of degree k + 1, p and
 * @last those of k and k − 1. */
#define SPECIAL_POLYNOMIAL(name, first, next)                                                      \
  INLINE double m_##name##_f64 (double x, double n)                                                \
  {                                                                                                \
    double last = 1, p = first;                                                                    \
                                                                                                   \
    n = degree (n);                                                                                \
    if (!(n > 0))                                                                                  \
      return n == 0;                                                                               \
    if (n > MOST_TERMS)                                                                            \
      return NAN;                                                                                  \
    for (double k = 1; k < n && !isnan (p); k++)                                                   \
      {                                                                                            \
        double then = next;                                                                        \
                                                                                                   \
        last = p;                                                                                  \
        p = then;                                                                                  \
      }                                                                                            \
    return p;                                                                                      \
  }                                                                                                \
  SPECIAL_BINARY (name)

SPECIAL_POLYNOMIAL (hermite_h, 2 * x, 2 * (x * p - k * last))
SPECIAL_POLYNOMIAL (hermite_he, x, x *p - k * last)
SPECIAL_POLYNOMIAL (laguerre, 1 - x, ((2 * k + 1 - x) * p - k * last) / (k + 1))
SPECIAL_POLYNOMIAL (legendre, x, ((2 * k + 1) * x * p - k * last) / (k + 1))
