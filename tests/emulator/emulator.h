/* SPDX-License-Identifier: MIT */
#pragma once

/* What device code calls when gcc compiles it: kernels/cuda/device.h includes this in place of
 * what nvcc has. */

#include <stdint.h>

typedef struct
{
  int thread, threads;
  int64_t block, blocks;
} AdjEmulated;

/* Of the thread that runs. */
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

/* Every thread of the block gets there, or there is a problem. */
void adj_emulated_sync (void);

#define sync_block() adj_emulated_sync ()

/* @x, of at most 8 bytes, of the thread @by lanes on in the warp, into @out. */
void adj_emulated_shuffle (const void *x, void *out, unsigned size, int by);

#define SHUFFLE_DOWN(x, by)                                                                        \
  (__extension__({                                                                                 \
    __auto_type shuffled = (x);                                                                    \
    __auto_type result = shuffled;                                                                 \
    adj_emulated_shuffle (&shuffled, &result, sizeof shuffled, by);                                \
    result;                                                                                        \
  }))

/* Atomics: other than plain writes they may meet. */
void count_one (int64_t *at);
void set_min (int64_t *at, int64_t x);
void set_flag (int32_t *at);
void set_flag_f32 (float *at);
