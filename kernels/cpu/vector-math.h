/* SPDX-License-Identifier: MIT */
#pragma once

/* Scalar functions that compilers turn into vector loops, in an f32 and an f64 form each.
 *
 * The f32 forms of exp, log, tanh, sigmoid and erf are our own, and those of wide-math.h compute in
 * f64: branch-free, with every fused multiply-add written out, so they give the same bits on every
 * processor.  Other f32 functions round what libm has for f64.  The f64 forms are libm's. */

#include <math.h>
#include <stdint.h>

#include "convert.h"
#include "polynomials.h"
#include "wide-math.h"

/* --- own f32 functions -------------------------------------------------------------------------
 */

ALWAYS_INLINE float
pow2_of_int (int i)
{
  return f32_of_bits ((uint32_t) (i + 127) << 23);
}

/* e^x = 2^k (1 + p) with |x - k ln 2| <= ln 2 / 2; returns p. */
ALWAYS_INLINE float
exp_parts_f32 (float x, int *k)
{
  const float magic = 12582912.f; /* 1.5 · 2^23: adding it rounds to an integer */
  float n = fmaf (x, 1.44269504f, magic);

  *k = (int) (bits_of_f32 (n) - 0x4b400000);
  n -= magic;

  float r = fmaf (n, -1.42860677e-6f, fmaf (n, -0.693145752f, x));
  float p = 1.37449615e-3f;

  p = fmaf (p, r, 8.36894475e-3f);
  p = fmaf (p, r, 4.16696519e-2f);
  p = fmaf (p, r, 0.166665182f);
  p = fmaf (p, r, 0.499999881f);
  return fmaf (p, r * r, r);
}

/* Scaled in two steps so that subnormals come out right. */
ALWAYS_INLINE float
m_exp_f32 (float x)
{
  float c = x > 88.8f ? 88.8f : x;
  int k;

  c = c < -104.f ? -104.f : c;

  float y = exp_parts_f32 (c, &k) + 1.f;
  int half = k >> 1;

  y = y * pow2_of_int (half) * pow2_of_int (k - half);
  y = x > 88.72284f ? INFINITY : y;
  return x != x ? x : y;
}

/* The same of @x in [-87, 88], whose result is neither subnormal nor infinite. */
ALWAYS_INLINE float
exp_normal_f32 (float x)
{
  int k;
  float p = exp_parts_f32 (x, &k);

  return (p + 1.f) * pow2_of_int (k);
}

/* The same of @x <= 0.  *@low is the rounding error of the result. */
ALWAYS_INLINE float
exp_negative_f32 (float x, float *low)
{
  int k;
  float p = exp_parts_f32 (x < -104.f ? -104.f : x, &k);
  float y = p + 1.f, scale = pow2_of_int (k + 24);

  *low = (p - (y - 1.f)) * scale * 0x1p-24f;
  return y * scale * 0x1p-24f;
}

/* log x = k ln 2 + log (1 + f), 1 + f in [√½, √2), and with s = f / (2 + f) the series
 * log (1 + f) = 2 s + 2/3 s³ + 2/5 s⁵ + …, where 2 s = f - s f splits off the exact part. */
ALWAYS_INLINE float
m_log_f32 (float x)
{
  int tiny = x < 0x1p-126f;
  uint32_t u = bits_of_f32 (tiny ? x * 0x1p25f : x);
  int k = (int) (u + (0x3f800000 - 0x3f3504f3)) >> 23;
  float f = f32_of_bits (u - ((uint32_t) (k - 127) << 23)) - 1.f;
  float e = (float) (k - 127 - (tiny ? 25 : 0));
  float s = f / (2.f + f), z = s * s, half = 0.5f * f * f;
  float p = 0.222222222f; /* 2/9, 2/7, 2/5, 2/3 */

  p = fmaf (p, z, 0.285714286f);
  p = fmaf (p, z, 0.4f);
  p = fmaf (p, z, 0.666666667f) * z;

  /* ln 2 in two parts, the first with room for the product by an exponent */
  float low = fmaf (e, -2.12194440e-4f, s * (half + p)) - half;
  float y = fmaf (e, 0.693359375f, low + f);

  y = x == 0.f ? -INFINITY : y;
  y = x < 0.f ? NAN : y;
  return x != x || x == INFINITY ? x : y;
}

ALWAYS_INLINE float
m_tanh_f32 (float x)
{
  float a = fabsf (x), z = x * x;
  float p = -5.70002059e-3f;

  p = fmaf (p, z, 2.06340719e-2f);
  p = fmaf (p, z, -5.37379310e-2f);
  p = fmaf (p, z, 0.133314162f);
  p = fmaf (p, z, -0.333332807f);

  float small = fmaf (x * z, p, x), near = a > 10.f ? 10.f : a; /* from 9.02 on it rounds to 1 */
  float large = copysignf (1.f - 2.f / (exp_normal_f32 (2.f * near) + 1.f), x);

  return a >= 0.625f ? large : small;
}

/* e / (1 + e) or 1 / (1 + e), with one correction step by the rounding errors of e, 1 + e and the
 * quotient. */
ALWAYS_INLINE float
m_sigmoid_f32 (float x)
{
  float low, e = exp_negative_f32 (-fabsf (x), &low);
  float above = x < 0.f ? e : 1.f, above_low = x < 0.f ? low : 0.f;
  float below = 1.f + e, below_low = e - (below - 1.f) + low;
  float inverse = 1.f / below, y = above * inverse;

  return y + (fmaf (-y, below, above) + above_low - y * below_low) * inverse;
}

ALWAYS_INLINE float
m_erf_f32 (float x)
{
  float a = fabsf (x), z = x * x, near = a > 4.f ? 4.f : a; /* from 3.93 on it rounds to 1 */
  float p = -5.88440744e-4f, q = -1.40927678e-5f;

  p = fmaf (p, z, 4.96923225e-3f);
  p = fmaf (p, z, -2.67470255e-2f);
  p = fmaf (p, z, 0.112811141f);
  p = fmaf (p, z, -0.376123905f);
  p = fmaf (p, z, 0.128379107f);

  q = fmaf (q, near, 3.31200543e-4f);
  q = fmaf (q, near, -3.53580853e-3f);
  q = fmaf (q, near, 2.30096597e-2f);
  q = fmaf (q, near, -0.104202330f);
  q = fmaf (q, near, -0.637925446f);
  q = fmaf (q, near, -1.12675381f);
  q = fmaf (q, near, -5.14626969e-4f);

  float small = fmaf (x, p, x);
  float large = copysignf (a > 3.93f ? 1.f : 1.f - exp_normal_f32 (q), x);

  return a >= 0.94f ? large : small;
}

/* --- the rest ----------------------------------------------------------------------------------
 */

#define MATH_UNARY_F64(name)                                                                       \
  ALWAYS_INLINE double m_##name##_f64 (double x) { return name (x); }

#define MATH_UNARY(name)                                                                           \
  ALWAYS_INLINE float m_##name##_f32 (float x) { return (float) name (x); }                        \
  MATH_UNARY_F64 (name)

#define MATH_BINARY(name)                                                                          \
  ALWAYS_INLINE float m_##name##_f32 (float x, float y)                                            \
  {                                                                                                \
    return (float) name ((double) x, (double) y);                                                  \
  }                                                                                                \
  ALWAYS_INLINE double m_##name##_f64 (double x, double y) { return name (x, y); }

/* Exact in either type: no detour through f64. */
#define MATH_EXACT(name)                                                                           \
  ALWAYS_INLINE float m_##name##_f32 (float x) { return name##f (x); }                             \
  ALWAYS_INLINE double m_##name##_f64 (double x) { return name (x); }

#define MATH_EXACT2(name)                                                                          \
  ALWAYS_INLINE float m_##name##_f32 (float x, float y) { return name##f (x, y); }                 \
  ALWAYS_INLINE double m_##name##_f64 (double x, double y) { return name (x, y); }

MATH_UNARY_F64 (expm1)
MATH_UNARY_F64 (exp2)
MATH_UNARY_F64 (log1p)
MATH_UNARY_F64 (log2)
MATH_UNARY_F64 (log10)
MATH_UNARY_F64 (sin)
MATH_UNARY_F64 (cos)
MATH_UNARY_F64 (tan)
MATH_UNARY (asin)
MATH_UNARY (acos)
MATH_UNARY (atan)
MATH_UNARY_F64 (sinh)
MATH_UNARY_F64 (cosh)
MATH_UNARY (asinh)
MATH_UNARY (acosh)
MATH_UNARY (atanh)
MATH_UNARY (erfc)

MATH_BINARY (atan2)
MATH_BINARY (hypot)
MATH_EXACT (fabs)
MATH_EXACT (sqrt)
MATH_EXACT (floor)
MATH_EXACT (ceil)
MATH_EXACT (rint)
MATH_EXACT (trunc)
MATH_EXACT2 (fmod)
MATH_EXACT2 (copysign)

ALWAYS_INLINE double
m_pow_f64 (double x, double y)
{
  return pow (x, y);
}

ALWAYS_INLINE float
m_fma_f32 (float x, float y, float z)
{
  return fmaf (x, y, z);
}

ALWAYS_INLINE double
m_fma_f64 (double x, double y, double z)
{
  return fma (x, y, z);
}

ALWAYS_INLINE double
m_exp_f64 (double x)
{
  return exp (x);
}

ALWAYS_INLINE double
m_log_f64 (double x)
{
  return log (x);
}

ALWAYS_INLINE double
m_tanh_f64 (double x)
{
  return tanh (x);
}

ALWAYS_INLINE double
m_erf_f64 (double x)
{
  return erf (x);
}

ALWAYS_INLINE double
m_sigmoid_f64 (double x)
{
  double e = exp (-fabs (x));

  return (x < 0 ? e : 1) / (1 + e);
}
