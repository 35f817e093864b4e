/* SPDX-License-Identifier: MIT */
#pragma once

/* Fused programs as C text, to be compiled at run time. */

#include <stdio.h>

#include "adj-kernel-fused.h"
#include "adj-kernel-source.h"

/* The headers that the text includes, by name; ends with an entry without a name. */
extern const AdjKSource adj_k_cpu_sources[];

/* Writes the common beginning of a file with such functions. */
void adj_k_fused_write_prelude (FILE *out);

/* Writes the function @name, an AdjKFusedMade, for operands as adj_k_fused_merge() leaves them;
 * sizes, strides and types are constants in it, addresses are arguments. */
void
adj_k_fused_write (FILE *out, const AdjKFused *fused, const AdjKView *operands, const char *name);

/* Computes elements @start … @end - 1 of operands that begin at @at; returns non-zero when an
 * integer was divided by zero. */
typedef int32_t (*AdjKFusedMade) (char *const *at, int64_t start, int64_t end);

/* As adj_k_fused(), with the same bits, by the function that was compiled for @operands. */
bool adj_k_fused_run_made (const AdjKFused *fused, AdjKFusedMade made, const AdjKView *operands);
