/* SPDX-License-Identifier: MIT */

/* The loops for x86-64-v4: AVX-512. */

#if defined __x86_64__ && !defined __clang__ /* which ignores the pragma */
#pragma GCC target("arch=x86-64-v4", "prefer-vector-width=512")

#define LOOPS_NAME adj_k_loops_v4
#define VECTOR_BYTES 64
#define GEMM_ROWS 12
#include "loops.inc"
#endif
