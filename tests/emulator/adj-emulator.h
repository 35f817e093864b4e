/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Runs the kernels of kernels/cuda on the host, from the same source: the threads of a block are
 * fibers, blocks run one after the other in host memory, and one launch runs at a time. */

typedef struct
{
  const char *symbol;
  void (*run) (const void *args);
  size_t size; /* of its arguments, in bytes */
} AdjEmulatedKernel;

/* All kernels of ADJ_CUDA_KERNELS; the last row has no symbol. */
extern const AdjEmulatedKernel adj_emulated_kernels[];

/* Returns the kernel with the name @symbol, or NULL. */
const AdjEmulatedKernel *adj_emulator_find (const char *symbol);

/* Runs @kernel with @args on @blocks blocks of @threads threads (at most 1024). */
void adj_emulator_launch (const AdjEmulatedKernel *kernel,
                          uint32_t blocks,
                          uint32_t threads,
                          const void *args);

/* Restricts kernels to their own memory and the memory that @holds accepts as the device's; any
 * other access is reported as a problem.  NULL: no restriction. */
typedef bool (*AdjEmulatorHolds) (const void *device, const void *at, size_t size);
void adj_emulator_confine (AdjEmulatorHolds holds, const void *device);

/* Returns and clears the first problem; NULL: none.  A problem is a race (two threads access a
 * byte with no barrier between them, and one writes), an access outside of device memory, or a
 * barrier that not all threads reach.  The first two are detected only in kernels compiled for
 * it. */
const char *adj_emulator_take_problem (void);

/* Number of launches of each kernel, in the order of adj_emulated_kernels. */
const uint32_t *adj_emulator_get_counts (void);
