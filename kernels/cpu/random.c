/* SPDX-License-Identifier: MIT */
/* Normal numbers by Box and Muller in f32, rounded as PyTorch's vectorised kernel rounds them. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "adj-kernel-random.h"

/* x in (0, 1].  ln x = e ln 2 + ln m with m in [√½, √2). */
static float
log_of (float x)
{
  static const float p[] = { 7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                             -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                             2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f };
  const float ln2_high = 0.693359375f, ln2_low = -2.12194440e-4f;
  uint32_t bits;
  float e, m, y, z;

  memcpy (&bits, &x, sizeof bits);
  e = (float) ((int) (bits >> 23) - 126);
  bits = (bits & 0x007fffff) | 0x3f000000;
  memcpy (&m, &bits, sizeof m);
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
static void
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

void
adj_k_box_muller_f32 (float u[16])
{
  for (int i = 0; i < 8; i++)
    {
      float radius = sqrtf (-2 * log_of (1 - u[i]));
      float sine, cosine;

      sine_and_cosine_of (6.283185307179586f * u[i + 8], &sine, &cosine);
      u[i] = radius * cosine;
      u[i + 8] = radius * sine;
    }
}
