/* SPDX-License-Identifier: MIT */
#pragma once

#include "emulated-queue.h"
#include "kernel-test.h"

/* What the checks of CUDA's entries share: each runs an entry on a queue of the CPU and on one of
 * the emulator. */

extern AdjKQueue cpu;
extern EmulatedQueue cuda;

/* Outputs of the CPU and of CUDA. */
typedef AdjKView Pair[2];

#define ON_BOTH(q, i)                                                                              \
  for (AdjKQueue *q = &cpu, *past = NULL; past == NULL;                                            \
       past = q == &cpu ? NULL : q, q = &cuda.queue)                                               \
    for (gint i = q != &cpu, once = 1; once; once = 0)

#define SOME(type, low, high, ...)                                                                 \
  some_of (type, low, high, sizeof ((gint[]){ __VA_ARGS__ }) / sizeof (gint),                      \
           (gint[]){ __VA_ARGS__ })

#define RANDOM(type, ...) SOME (type, is_float (type) ? -3 : 0, 7, __VA_ARGS__)

#define PAIR(out, ...)                                                                             \
  do                                                                                               \
    {                                                                                              \
      (out)[0] = __VA_ARGS__;                                                                      \
      (out)[1] = copy_of (&(out)[0]);                                                              \
    }                                                                                              \
  while (0)

gboolean is_float (AdjKType type);

/* Random elements; every third array has its dims in another order and gaps. */
AdjKView some_of (AdjKType type, double low, double high, gint rank, const gint *sizes);
AdjKView copy_of (const AdjKView *view);

/* The same bits, a NaN being one whatever its payload, without a race. */
void assert_pair (const char *what, const Pair out);

/* One for each entry, of one dtype; those that have no such dtype do nothing. */
#define DECLARE_CHECK(RESULT, name, parameters, arguments) void check_##name (AdjKType type);
ADJ_K_ENTRIES (DECLARE_CHECK)
#undef DECLARE_CHECK

/* Sums of more elements than one block takes. */
void check_long_reduce (void);
void check_columns (void);
