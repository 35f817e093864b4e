/* SPDX-License-Identifier: MIT */
#pragma once

#include "emulated-queue.h"
#include "kernel-test.h"

/* Shared by the checks of CUDA's entries: each check runs an entry on a queue of the CPU and on
 * one of the emulator. */

extern AdjKQueue cpu;
extern EmulatedQueue cuda;

/* Outputs on the CPU and on CUDA. */
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

/* Makes random elements; every third array has permuted dims and gaps. */
AdjKView some_of (AdjKType type, double low, double high, gint rank, const gint *sizes);
AdjKView copy_of (const AdjKView *view);

/* Expects the same bits, all NaNs being equal, and no race. */
void assert_pair (const char *what, const Pair out);

/* One check for each entry, for one dtype; it does nothing if the entry lacks the dtype. */
#define DECLARE_CHECK(RESULT, name, parameters, arguments) void check_##name (AdjKType type);
ADJ_K_ENTRIES (DECLARE_CHECK)
#undef DECLARE_CHECK

/* Sums of more elements than one block reduces. */
void check_long_reduce (void);
void check_columns (void);
