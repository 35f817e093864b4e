/* SPDX-License-Identifier: MIT */
#pragma once

/* Fused programs as C, to be compiled where they run. */

#include <stdio.h>

#include "adj-kernel-fused.h"
#include "adj-kernel-source.h"

/* What the text includes, by the names that it has there: ends with one without a name. */
extern const AdjKSource adj_k_cpu_sources[];

/* What the functions that follow in the same file need. */
void adj_k_fused_write_prelude (FILE *out);

/* Writes the function @name, an AdjKFusedMade, for operands as adj_k_fused_merge() leaves them;
 * their sizes, strides and types are constants in it, their data is not. */
void adj_k_fused_write (FILE *out,
                        const AdjKFused *fused,
                        const AdjKView *operands,
                        const char *name);

/* Computes elements @start … @end - 1 of operands that begin @at; not 0: an integer was divided by
 * zero. */
typedef int32_t (*AdjKFusedMade) (char *const *at, int64_t start, int64_t end);

/* As adj_k_fused(), with the same bits, by the function that was compiled for @operands. */
bool
adj_k_fused_run_made (const AdjKFused *fused, AdjKFusedMade made, const AdjKView *operands);
