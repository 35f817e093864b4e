/* SPDX-License-Identifier: MIT */
#pragma once

/* Device intrinsics for code compiled by gcc: kernels/cuda/device.h includes this instead of
 * nvcc's headers. */

#include <stdint.h>

typedef struct
{
  int thread, threads;
  int64_t block, blocks;
} AdjEmulated;

/* Indices of the running thread. */
extern AdjEmulated adj_emulated;

#define DEVICE static inline __attribute__ ((unused))
#define ENTRY(name, Args)                                                                          \
  static void name##_thread (Args args);                                                           \
  void name##_emulated (const void *args);                                                         \
  void name##_emulated (const void *args) { name##_thread (*(const Args *) args); }                \
  static void name##_thread (Args args)
#define SHARED static __attribute__ ((section ("adj_shared")))
#define THREAD adj_emulated.thread
#ifndef THREADS
#define THREADS adj_emulated.threads
#endif
#define BLOCK adj_emulated.block
#define BLOCKS adj_emulated.blocks

/* Barrier of the block; reports a problem unless every thread reaches it. */
void adj_emulated_sync (void);

#define sync_block() adj_emulated_sync ()

/* Copies the value @x, of at most 8 bytes, of the thread @by lanes further in the warp to @out. */
void adj_emulated_shuffle (const void *x, void *out, unsigned size, int by);

#define SHUFFLE_DOWN(x, by)                                                                        \
  (__extension__({                                                                                 \
    __auto_type shuffled = (x);                                                                    \
    __auto_type result = shuffled;                                                                 \
    adj_emulated_shuffle (&shuffled, &result, sizeof shuffled, by);                                \
    result;                                                                                        \
  }))

/* Atomics, which may race with each other but not with plain accesses. */
void count_one (int64_t *at);
void set_min (int64_t *at, int64_t x);
void set_flag (int32_t *at);
void set_flag_f32 (float *at);
