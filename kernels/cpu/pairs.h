/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: sums of products of bf16 two at a time. */

#include "panels.h"

/* Panels hold pairs of neighbours along k, the first one in the upper half of 32 bits; missing ones
 * at the end are zero. */
typedef struct
{
  GemmLoop gemm[GEMM_MAX_ROWS + 1]; /* as of ClassLoops, where @k counts pairs */
  /* As in ClassLoops, but rows of A are bf16 in reverse, with their first elements at the highest
   * address, and all runs are even; @b has a row for each pair. */
  GemmRunsLoop gemm_runs;
  /* Packs @lines as panels of @width, 12 or PAIR_COLS; returns the least biased exponent of the
   * non-zero numbers, or PAIRS_TINY if one is subnormal. */
  int (*pack) (void *dst, int width, const PanelLines *lines, int64_t k);
  /* The panel of PAIR_COLS columns of which row p begins @at[p] elements after @rows. */
  int (*pack_rows) (uint32_t *dst, const uint16_t *rows, const int64_t *at, int64_t k);
  /* The least exponent of @n bf16 numbers, as above. */
  int (*find_least) (const void *numbers, int64_t n);
} PairLoops;

enum
{
  PAIR_COLS = 32, /* gemm_cols of the loops that panels are shared with */
  PAIRS_TINY = -1000,
  PAIRS_NONE = 1000, /* the least exponent of zeros */
  PAIRS_LEAST = 142  /* least sum of two exponents at which no sum of products can be subnormal */
};

/* (nullable): the loops of this processor, if a pair has the bits of two fused multiply-adds. */
const PairLoops *adj_k_pair_loops (void);
/* The same for a processor that is known to have the instruction, for isa.c. */
const PairLoops *adj_k_pair_loops_try (void);
