/* SPDX-License-Identifier: MIT */

/* The loops for x86-64-v4, for which the whole file is compiled: AVX-512. */

#if defined __x86_64__
#include <immintrin.h>

#define FMA_F32(a, b, c) _mm512_fmadd_ps (_mm512_set1_ps (a), (b), (c))
#define FMA_F64(a, b, c) _mm512_fmadd_pd (_mm512_set1_pd (a), (b), (c))
#define LOOPS_NAME adj_k_loops_v4
#define VECTOR_BYTES 64
#define GEMM_ROWS 12
#include "loops.inc"
#endif
