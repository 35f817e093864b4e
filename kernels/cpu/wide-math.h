/* SPDX-License-Identifier: MIT */
#pragma once

/* f32 functions computed in f64 and rounded once: branch-free, with every fused multiply-add
 * written out, so they are vector loops and give the same bits on every processor.  The error
 * before the rounding is below 1e-12 of the result.  A processor without FMA emulates it, slowly.
 */

#include <math.h>
#include <stdint.h>

#include "convert.h"

#define WIDE_MAGIC 0x1.8p52 /* adding it rounds to an integer, which the low bits then hold */

/* --- powers of e and of 2 ----------------------------------------------------------------------
 */

/* e^r - 1 for |r| <= ln 2 / 2 */
ALWAYS_INLINE double
wide_small_power (double r)
{
  double p = 1 / 39916800.;

  p = fma (p, r, 1 / 3628800.);
  p = fma (p, r, 1 / 362880.);
  p = fma (p, r, 1 / 40320.);
  p = fma (p, r, 1 / 5040.);
  p = fma (p, r, 1 / 720.);
  p = fma (p, r, 1 / 120.);
  p = fma (p, r, 1 / 24.);
  p = fma (p, r, 1 / 6.);
  p = fma (p, r, 0.5);
  return fma (p, r * r, r);
}

/* 2^k of the integer k that was rounded to @magic_sum = k + WIDE_MAGIC */
ALWAYS_INLINE double
wide_scale (double magic_sum)
{
  return f64_of_bits ((bits_of_f64 (magic_sum) + 1023) << 52);
}

/* 2^x, 0 and infinity beyond f32 */
ALWAYS_INLINE double
wide_exp2 (double x)
{
  double c = x > 300 ? 300 : x;

  c = c < -300 ? -300 : c;

  double n = c + WIDE_MAGIC, scale = wide_scale (n);

  return fma (scale, wide_small_power ((c - (n - WIDE_MAGIC)) * 0.69314718055994531), scale);
}

/* e^x - 1 */
ALWAYS_INLINE double
wide_expm1 (double x)
{
  double c = x > 100 ? 100 : x;

  c = c < -100 ? -100 : c;

  double n = fma (c, 1.4426950408889634, WIDE_MAGIC), scale = wide_scale (n);
  double r =
      fma (n - WIDE_MAGIC, -2.3190468138462996e-17, fma (n - WIDE_MAGIC, -0.69314718055994531, c));

  return fma (scale, wide_small_power (r), scale - 1);
}

ALWAYS_INLINE float
m_exp2_f32 (float x)
{
  return (float) wide_exp2 (x);
}

ALWAYS_INLINE float
m_expm1_f32 (float x)
{
  return x == 0 ? x : (float) wide_expm1 (x);
}

ALWAYS_INLINE float
m_sinh_f32 (float x)
{
  double e = wide_expm1 (fabs ((double) x));

  return x == 0 ? x : copysignf ((float) (0.5 * (e + e / (e + 1))), x);
}

ALWAYS_INLINE float
m_cosh_f32 (float x)
{
  double e = wide_expm1 (fabs ((double) x)) + 1;

  return (float) (0.5 * (e + 1 / e));
}

/* --- logarithms and powers ---------------------------------------------------------------------
 */

/* x = 2^k m with m in [√½, √2) of a normal x > 0; returns m. */
ALWAYS_INLINE double
wide_split (double x, double *k)
{
  uint64_t u = bits_of_f64 (x);
  uint64_t exponent = (u + (0x3ff0000000000000 - 0x3fe6a09e667f3bcd)) >> 52;

  *k = f64_of_bits (exponent + 0x4338000000000000) - (WIDE_MAGIC + 1023);
  return f64_of_bits (u - ((exponent - 1023) << 52));
}

/* log (1 + f) for 1 + f in [√½, √2): with s = f / (2 + f), 2 s + 2/3 s³ + 2/5 s⁵ + … */
ALWAYS_INLINE double
wide_small_log (double f)
{
  double s = f / (2 + f), z = s * s;
  double p = 2 / 17.;

  p = fma (p, z, 2 / 15.);
  p = fma (p, z, 2 / 13.);
  p = fma (p, z, 2 / 11.);
  p = fma (p, z, 2 / 9.);
  p = fma (p, z, 2 / 7.);
  p = fma (p, z, 2 / 5.);
  p = fma (p, z, 2 / 3.);
  return fma (s * z, p, 2 * s);
}

/* log x for a base, of which @of_2 and @of_e are the logarithms of 2 and e */
ALWAYS_INLINE double
wide_log (double x, double of_2, double of_e)
{
  double k, m = wide_split (x, &k);
  double y = fma (k, of_2, wide_small_log (m - 1) * of_e);

  y = x == 0 ? -INFINITY : y;
  y = x < 0 ? NAN : y;
  return x != x || x == INFINITY ? x : y;
}

ALWAYS_INLINE float
m_log2_f32 (float x)
{
  return (float) wide_log (x, 1, 1.4426950408889634);
}

ALWAYS_INLINE float
m_log10_f32 (float x)
{
  return (float) wide_log (x, 0.30102999566398120, 0.43429448190325183);
}

ALWAYS_INLINE float
m_log1p_f32 (float x)
{
  double k, sum = 1 + (double) x, m = wide_split (sum, &k);
  double y = fma (k, 0.69314718055994531, wide_small_log (k == 0 ? (double) x : m - 1));

  y = sum == 0 ? -INFINITY : y;
  y = sum < 0 ? NAN : y;
  return x == 0 || x != x || x == INFINITY ? x : (float) y;
}

ALWAYS_INLINE float
m_cube_f32 (float x)
{
  return (float) ((double) x * x * x);
}

/* a^n for n in [0, 7] */
ALWAYS_INLINE double
wide_product (double a, int n)
{
  double square = a * a, fourth = square * square;

  return (n & 1 ? a : 1) * (n & 2 ? square : 1) * (n & 4 ? fourth : 1);
}

/* Powers up to the seventh are computed as products, in which ties are seen: higher whole ones have
 * none among normal numbers; those of fractions (x^1.5) are rounded to either side. */
ALWAYS_INLINE float
m_pow_f32 (float x, float y)
{
  double a = fabs ((double) x), half = 0.5 * (double) y;
  int whole = y == truncf (y), odd = whole & (half != trunc (half));
  int n = whole & (y > 0) & (y < 8) ? (int) y : 0;
  double power = wide_exp2 ((double) y * wide_log (a, 1, 1.4426950408889634));

  power = n > 0 ? wide_product (a, n) : power;
  power = odd ? copysign (power, (double) x) : power;
  power = (x < 0) & (a != INFINITY) & !whole ? NAN : power;
  power = (x != x) | (y != y) ? (double) (x + y) : power;
  power = (y == 0) | (x == 1) | ((x == -1) & (fabs (half) == INFINITY)) ? 1 : power;
  return (float) power;
}

/* --- angles ------------------------------------------------------------------------------------
 */

/* @p less its whole fours */
ALWAYS_INLINE double
wide_below_four (double p)
{
  return fma (-4.0, rint (0.25 * p), p);
}

/* x in quarters of a turn, rounded to an integer; *@angle is what that leaves, in [-π/4, π/4].  2/π
 * in parts of 29 bits, whose products with x are exact; whole turns are dropped from each. */
ALWAYS_INLINE double
wide_quarters (double x, double *angle)
{
  double a = wide_below_four (x * 0x1.45f306dp-1), b = wide_below_four (x * 0x1.9391054p-30);
  double c = wide_below_four (x * 0x1.4fe13abp-59), d = wide_below_four (x * 0x1.d1f534dp-88);
  double e = wide_below_four (x * 0x1.b81b6c5p-117), f = wide_below_four (x * 0x1.5993c4p-148);
  double g = x * 0x1.c820ff2p-175;
  double n = rint (a + b + c + d + e + f + g);

  *angle = (a - n + b + c + d + e + f + g) * 1.5707963267948966;
  return n;
}

ALWAYS_INLINE double
wide_small_sin (double a, double square)
{
  double p = 1 / 6227020800.;

  p = fma (p, square, -1 / 39916800.);
  p = fma (p, square, 1 / 362880.);
  p = fma (p, square, -1 / 5040.);
  p = fma (p, square, 1 / 120.);
  p = fma (p, square, -1 / 6.);
  return fma (a * square, p, a);
}

ALWAYS_INLINE double
wide_small_cos (double square)
{
  double p = -1 / 87178291200.;

  p = fma (p, square, 1 / 479001600.);
  p = fma (p, square, -1 / 3628800.);
  p = fma (p, square, 1 / 40320.);
  p = fma (p, square, -1 / 720.);
  p = fma (p, square, 1 / 24.);
  p = fma (p, square, -0.5);
  return fma (p, square, 1.0);
}

/* The sine of n quarters of a turn and @a: the second bit of n is its sign, the first the cosine.
 */
ALWAYS_INLINE double
wide_sin (double n, double a)
{
  uint64_t quarter = bits_of_f64 (n + WIDE_MAGIC);
  double square = a * a, sine = wide_small_sin (a, square), cosine = wide_small_cos (square);
  double y = quarter & 1 ? cosine : sine;

  return f64_of_bits (bits_of_f64 (y) ^ (quarter >> 1 << 63));
}

ALWAYS_INLINE float
m_sin_f32 (float x)
{
  double a, n = wide_quarters (x, &a);

  return x == 0 ? x : (float) wide_sin (n, a);
}

ALWAYS_INLINE float
m_cos_f32 (float x)
{
  double a, n = wide_quarters (x, &a);

  return (float) wide_sin (n + 1, a);
}

ALWAYS_INLINE float
m_tan_f32 (float x)
{
  double a, n = wide_quarters (x, &a);

  return x == 0 ? x : (float) (wide_sin (n, a) / wide_sin (n + 1, a));
}
