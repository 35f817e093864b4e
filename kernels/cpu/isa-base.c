/* SPDX-License-Identifier: MIT */

/* The loops for any processor that the compiler was asked for. */

#define LOOPS_NAME adj_k_loops_base
#define VECTOR_BYTES 16
#define GEMM_ROWS 4
#include "loops.inc"
