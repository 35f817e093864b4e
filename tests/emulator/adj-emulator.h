/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Kernels of kernels/cuda on the host, from the same source: the threads of a block are fibers, one
 * block runs after the other, memory is the host's.  One launch at a time. */

typedef struct
{
  const char *symbol;
  void (*run) (const void *args);
  size_t size; /* of its arguments */
} AdjEmulatedKernel;

/* All of ADJ_CUDA_KERNELS; ends with a row without a symbol. */
extern const AdjEmulatedKernel adj_emulated_kernels[];

/* The kernel called @symbol, or NULL. */
const AdjEmulatedKernel *adj_emulator_find (const char *symbol);

/* Runs @kernel with @args over @blocks blocks of @threads threads (at most 1024). */
void adj_emulator_launch (const AdjEmulatedKernel *kernel,
                          uint32_t blocks,
                          uint32_t threads,
                          const void *args);

/* From now on kernels may touch, beside what is their own, only memory that @holds says is the
 * device's: anything else, of the host or past an end, is a problem.  NULL: they may touch all. */
typedef bool (*AdjEmulatorHolds) (const void *device, const void *at, size_t size);
void adj_emulator_confine (AdjEmulatorHolds holds, const void *device);

/* The first problem since the last call, which forgets it; NULL: none.  A race (two threads that
 * touch a byte with no barrier between them, one of them writing) or memory that is not the
 * device's, both of kernels compiled for it only, or a barrier that not all threads reach. */
const char *adj_emulator_take_problem (void);

/* How many launches each kernel had, in the order of adj_emulated_kernels. */
const uint32_t *adj_emulator_get_counts (void);
