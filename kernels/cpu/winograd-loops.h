/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* For winograd.c, in class F32: @n tiles, a multiple of gemm_cols, whose sixteen elements are @step
 * apart.  Elements (a, b) of the tiles before spreading, or after collecting, are a plane of @size
 * elements for each parity of a and b; a + 2 is @pitch further on, b + 2 one. */
typedef struct
{
  void (*spread) (void *out, int64_t step, const void *planes, int64_t size, int64_t pitch, int n);
  void (*collect) (void *planes, int64_t size, const void *in, int64_t step, int n);
  void (*spread_gradient) (void *out, int64_t step, const void *planes, int64_t size, int n);
  /* Splits @n pairs of elements into two runs, and joins them again. */
  void (*part) (void *even, void *odd, const void *in, int n);
  void (*join) (void *out, const void *even, const void *odd, int n);
} WinogradLoops;
