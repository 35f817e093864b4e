/* SPDX-License-Identifier: MIT */

/* The loops for the processor that the compiler targets. */

#include <math.h>

typedef float V4f __attribute__ ((vector_size (16), aligned (4)));
typedef double V2d __attribute__ ((vector_size (16), aligned (8)));

/* a · b + c, rounded once, lane by lane: an instruction or a function of libm. */
static inline V4f
fma_f32 (float a, V4f b, V4f c)
{
  for (int i = 0; i < 4; i++)
    c[i] = fmaf (a, b[i], c[i]);
  return c;
}

static inline V2d
fma_f64 (double a, V2d b, V2d c)
{
  for (int i = 0; i < 2; i++)
    c[i] = fma (a, b[i], c[i]);
  return c;
}

#define FMA_F32(a, b, c) fma_f32 (a, b, c)
#define FMA_F64(a, b, c) fma_f64 (a, b, c)
#define LOOPS_NAME adj_k_loops_base
#define VECTOR_BYTES 16
#define GEMM_ROWS 4
#include "loops.inc"
