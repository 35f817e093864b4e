/* SPDX-License-Identifier: MIT */

/* The loops for x86-64-v3, for which the whole file is compiled: AVX2 and FMA. */

#if defined __x86_64__
#include <immintrin.h>

#define FMA_F32(a, b, c) _mm256_fmadd_ps (_mm256_set1_ps (a), (b), (c))
#define FMA_F64(a, b, c) _mm256_fmadd_pd (_mm256_set1_pd (a), (b), (c))
#define LOOPS_NAME adj_k_loops_v3
#define VECTOR_BYTES 32
#define GEMM_ROWS 6
#include "loops.inc"
#endif
