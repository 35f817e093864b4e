/* SPDX-License-Identifier: MIT */
#pragma once

/* Single random numbers from words, on the CPU and on devices. */

#include <math.h>
#include <stdint.h>

#include "adj-kernel-random.h"
#include "convert.h"

ALWAYS_INLINE uint32_t
tempered (uint32_t y)
{
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

/* The next value of @state in a turn of the twister. */
ALWAYS_INLINE uint32_t
turned (uint32_t state, uint32_t following, uint32_t far)
{
  uint32_t mixed = (state & 0x80000000u) | (following & 0x7fffffffu);

  return far ^ (mixed >> 1) ^ ((following & 1) != 0 ? 0x9908b0dfu : 0);
}

ALWAYS_INLINE void
philox_block (const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
  uint32_t k0 = key[0], k1 = key[1];
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];

  for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u)
    {
      uint64_t a = (uint64_t) c0 * 0xD2511F53u, b = (uint64_t) c2 * 0xCD9E8D57u;

      c0 = (uint32_t) (b >> 32) ^ c1 ^ k0;
      c1 = (uint32_t) b;
      c2 = (uint32_t) (a >> 32) ^ c3 ^ k1;
      c3 = (uint32_t) a;
    }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/* The first @n_words of counter @i under the low half of @seed. */
ALWAYS_INLINE void
philox_words (uint64_t seed, int64_t i, uint32_t *out, int64_t n_words)
{
  const uint32_t key[2] = { (uint32_t) seed, 0 };
  const uint32_t counter[4] = { (uint32_t) i, 0, 0, 0 };
  uint32_t words[4];

  philox_block (key, counter, words);
  for (int64_t k = 0; k < n_words; k++)
    out[k] = words[k];
}

/* Words 2 @i, on top, and 2 @i + 1. */
ALWAYS_INLINE uint64_t
wide_word (const uint32_t *words, int64_t i)
{
  return (uint64_t) words[2 * i] << 32 | words[2 * i + 1];
}

ALWAYS_INLINE double
uniform_f64 (const uint32_t *words, int64_t i)
{
  return (double) (wide_word (words, i) & ((UINT64_C (1) << 53) - 1)) * 0x1p-53;
}

ALWAYS_INLINE double
uniform_of (const uint32_t *words, int64_t i, int type)
{
  int bits = type == ADJ_K_F16 ? 11 : type == ADJ_K_BF16 ? 8 : 24;

  if (type == ADJ_K_F64)
    return uniform_f64 (words, i);
  return (double) (words[i] & ((1u << bits) - 1)) / (double) (1u << bits);
}

/* --- MKL's MCG31 ------------------------------------------------------------------------------ */

#define MCG_PRIME UINT64_C (0x7fffffff)
#define MCG_FACTOR UINT64_C (1132489760)

/* State @i of the stream seeded by @word; divided by the prime it is a number of (0, 1). */
ALWAYS_INLINE uint64_t
mcg_state (uint32_t word, int64_t i)
{
  uint64_t x = word % MCG_PRIME, power = MCG_FACTOR;

  x = x != 0 ? x : 1;
  for (; i > 0; i >>= 1, power = power * power % MCG_PRIME)
    if ((i & 1) != 0)
      x = x * power % MCG_PRIME;
  return x;
}

/* --- Box and Muller --------------------------------------------------------------------------- */

/* x in (0, 1].  ln x = e ln 2 + ln m with m in [√½, √2). */
ALWAYS_INLINE float
log_of (float x)
{
  const float p[] = { 7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                      -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                      2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f };
  const float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  uint32_t bits = bits_of_f32 (x);
  float e = (float) ((int) (bits >> 23) - 126);
  float m = f32_of_bits ((bits & 0x007fffff) | 0x3f000000);
  float y, z;

  if (m < 0.707106781186547524f)
    {
      e -= 1;
      m = m - 1 + m;
    }
  else
    m -= 1;

  z = m * m;
  y = p[0];
  for (int i = 1; i < 9; i++)
    y = fmaf (y, m, p[i]);
  y = fmaf (y * m, z, e * ln2_low);
  y = fmaf (-z, 0.5f, y);
  return fmaf (e, ln2_high, m + y);
}

/* x in [0, 2π): reduced to [-π/4, π/4] around an even multiple of π/4. */
ALWAYS_INLINE void
sine_and_cosine_of (float x, float *sine, float *cosine)
{
  int octant = ((int) (x * 1.27323954473516f) + 1) & ~1;
  float k = (float) octant;
  float z, s, c;

  x = fmaf (k, -0.78515625f, x);
  x = fmaf (k, -2.4187564849853515625e-4f, x);
  x = fmaf (k, -3.77489497744594108e-8f, x);
  z = x * x;

  c = fmaf (2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fmaf (c, z, 4.166664568298827e-2f);
  c = fmaf (c * z, z, -(z * 0.5f)) + 1;
  s = fmaf (-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fmaf (s, z, -1.6666654611e-1f);
  s = fmaf (s * z, x, x);

  *sine = (octant & 2) != 0 ? c : s;
  *cosine = (octant & 2) != 0 ? s : c;
  if ((octant & 4) != 0)
    *sine = -*sine;
  if (((octant - 2) & 4) == 0)
    *cosine = -*cosine;
}

/* Turns two numbers of [0, 1) into normal ones. */
ALWAYS_INLINE void
box_muller_f32 (float *u, float *v)
{
  float radius = sqrtf (-2 * log_of (1 - *u));
  float sine, cosine;

  sine_and_cosine_of (6.283185307179586f * *v, &sine, &cosine);
  *u = radius * cosine;
  *v = radius * sine;
}
