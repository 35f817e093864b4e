/* SPDX-License-Identifier: MIT */
/* The table of emulated kernels: the rows of ADJ_CUDA_KERNELS. */

#include "adj-emulator.h"
#include "cuda/kernel-list.h"

#define DECLARE(symbol, Args, file) void symbol##_emulated (const void *args);
#define ROW(symbol, Args, file) { #symbol, symbol##_emulated, sizeof (Args) },

ADJ_CUDA_KERNELS (DECLARE)

const AdjEmulatedKernel adj_emulated_kernels[] = { ADJ_CUDA_KERNELS (ROW){ NULL, NULL, 0 } };
