/* SPDX-License-Identifier: MIT */
#pragma once

/* Conversions between element types, written so that compilers turn them into vector loops. */

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define ALWAYS_INLINE static __device__ __forceinline__
#define INLINE static __device__ inline
#else
#define ALWAYS_INLINE static inline __attribute__ ((always_inline, unused))
#define INLINE static inline __attribute__ ((unused))
#endif

ALWAYS_INLINE uint32_t
bits_of_f32 (float x)
{
  uint32_t u;

  memcpy (&u, &x, sizeof u);
  return u;
}

ALWAYS_INLINE float
f32_of_bits (uint32_t u)
{
  float x;

  memcpy (&x, &u, sizeof x);
  return x;
}

ALWAYS_INLINE uint64_t
bits_of_f64 (double x)
{
  uint64_t u;

  memcpy (&u, &x, sizeof u);
  return u;
}

ALWAYS_INLINE double
f64_of_bits (uint64_t u)
{
  double x;

  memcpy (&x, &u, sizeof x);
  return x;
}

/* --- 16-bit floats and integers ----------------------------------------------------------------
 */

ALWAYS_INLINE float
f32_of_bf16 (uint16_t h)
{
  return f32_of_bits ((uint32_t) h << 16);
}

ALWAYS_INLINE uint16_t
bf16_of_f32 (float x)
{
  uint32_t u = bits_of_f32 (x);
  uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16;

  return (uint16_t) ((u & 0x7fffffff) > 0x7f800000 ? 0x7fc0 : rounded);
}

/* Normal numbers: shift the exponent into place and rescale (which also makes 31 an infinity).
 * Subnormals: put the mantissa below a one and subtract it. */
ALWAYS_INLINE float
f32_of_f16 (uint16_t h)
{
  uint32_t twice = (uint32_t) h << 17;
  float normal = f32_of_bits ((twice >> 4) + (0xe0u << 23)) * 0x1p-112f;
  float subnormal = f32_of_bits (twice >> 17 | 126u << 23) - 0.5f;
  uint32_t magnitude = twice < 1u << 27 ? bits_of_f32 (subnormal) : bits_of_f32 (normal);

  return f32_of_bits ((uint32_t) (h & 0x8000) << 16 | magnitude);
}

/* Subnormals: the addition of 0.5, whose last bit is worth 2^-24, rounds as f16 must. */
ALWAYS_INLINE uint16_t
f16_of_f32 (float x)
{
  uint32_t sign = bits_of_f32 (x) >> 16 & 0x8000, a = bits_of_f32 (x) & 0x7fffffff;
  uint32_t normal = (a - 0x38000000 + 0xfff + (a >> 13 & 1)) >> 13;
  uint32_t subnormal = bits_of_f32 (f32_of_bits (a) + 0.5f) - 0x3f000000;
  uint32_t finite = a < 0x38800000 ? subnormal : normal;
  uint32_t special = a > 0x7f800000 ? 0x7e00 : 0x7c00;

  return (uint16_t) (sign | (a >= 0x47800000 ? special : finite));
}

ALWAYS_INLINE int64_t
i64_of_f64 (double x)
{
  return x >= -0x1p63 && x < 0x1p63 ? (int64_t) x : INT64_MIN;
}

ALWAYS_INLINE int32_t
i32_of_f64 (double x)
{
  return x > -0x1p31 - 1 && x < 0x1p31 ? (int32_t) x : INT32_MIN;
}

ALWAYS_INLINE int64_t
i64_of_f32 (float x)
{
  return x >= -0x1p63f && x < 0x1p63f ? (int64_t) x : INT64_MIN;
}

ALWAYS_INLINE int32_t
i32_of_f32 (float x)
{
  return x >= -0x1p31f && x < 0x1p31f ? (int32_t) x : INT32_MIN;
}
