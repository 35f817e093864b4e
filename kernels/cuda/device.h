/* SPDX-License-Identifier: MIT */
#pragma once

/* What a .cu of this folder is written in: C, as nvcc and, with tests/emulator, gcc compile it.
 * A kernel takes one struct by value; grids and blocks have one dimension. */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__

#define DEVICE static __device__ inline
#define ENTRY(name, Args) extern "C" __global__ void name (const __grid_constant__ Args args)
#define SHARED __shared__
#define THREAD ((int) threadIdx.x)
#ifndef THREADS
#define THREADS ((int) blockDim.x)
#endif
#define BLOCK ((int64_t) blockIdx.x)
#define BLOCKS ((int64_t) gridDim.x)

DEVICE void
sync_block (void)
{
  __syncthreads ();
}

/* The x of the lane @by further on in the warp. */
#define SHUFFLE_DOWN(x, by) __shfl_down_sync (0xffffffff, x, by)

DEVICE void
count_one (int64_t *at)
{
  atomicAdd ((unsigned long long *) at, 1ull);
}

DEVICE void
set_min (int64_t *at, int64_t x)
{
  atomicMin ((long long *) at, (long long) x);
}

DEVICE void
set_flag (int32_t *at)
{
  atomicOr (at, 1);
}

DEVICE void
set_flag_f32 (float *at)
{
  atomicExch (at, 1.f);
}

/* Passed by reference, so that constants stay constants. */
#define GIVEN(Args) const Args &

#else
#include "emulator.h"

#define GIVEN(Args) Args
#endif

/* In the source of a kernel for one call, the kernels of the library are functions. */
#ifdef KERNELS_ARE_FUNCTIONS
#define KERNEL(name, Args) DEVICE void name##_function (GIVEN (Args) args)
#else
#define KERNEL ENTRY
#endif

#ifdef __CUDACC__
#define UNROLLED _Pragma ("unroll")
#else
#define UNROLLED
#endif

/* Unrolls short loops so that loads overlap: in the source for one call, whose types and strides
 * are known. */
#ifdef KERNELS_ARE_FUNCTIONS
#define OVERLAPPED _Pragma ("unroll 4")
#else
#define OVERLAPPED
#endif

/* for (int64_t i = the thread's number in the grid; i < n; i += threads of the grid) */
#define FOR_EACH(i, n) for (int64_t i = BLOCK * THREADS + THREAD; i < (n); i += BLOCKS * THREADS)
