/* SPDX-License-Identifier: MIT */
/* Blocks of threads as fibers: each runs until it waits at a barrier, waits for its warp, or
 * ends.  A fiber is started once and runs one thread after the other; switches use setjmp() and
 * longjmp() because swapcontext() makes two system calls. */

/* The fortified longjmp() rejects jumps to another stack. */
#undef _FORTIFY_SOURCE

#include "emulator.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#if defined __SANITIZE_ADDRESS__
#define SWITCHES_ARE_SAID 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SWITCHES_ARE_SAID 1
#endif
#endif

#ifdef SWITCHES_ARE_SAID
#include <sanitizer/common_interface_defs.h>
#endif

#include "adj-emulator.h"
#include "race-private.h"

enum
{
  MAX_THREADS = 1024,
  WARP = 32,
  STACK = 64 * 1024,
  MAX_KERNELS = 256
};

typedef enum
{
  RUNS,
  AT_BARRIER,
  IN_WARP,
  ENDED
} State;

typedef struct
{
  ucontext_t context;
  jmp_buf jump;
  bool started;
  State state;
  uint64_t offered; /* value offered to the warp */
  void *fake_stack; /* state of the address sanitizer */
} Fiber;

AdjEmulated adj_emulated;

static struct
{
  Fiber fibers[MAX_THREADS];
  char *stacks;
  jmp_buf jump; /* of the scheduler */
  void *scheduler_stack;
  size_t scheduler_size;
  const AdjEmulatedKernel *kernel;
  const void *args;
  uint32_t counts[MAX_KERNELS];
} emulator;

static Fiber *
running (void)
{
  return &emulator.fibers[adj_emulated.thread];
}

static char *
stack_of (int thread)
{
  return emulator.stacks + (size_t) thread * STACK;
}

/* -- switching -- */

/* _setjmp() saves the callee-saved registers.  Around __builtin_setjmp() Clang does not save
 * them, so they would keep the values of another fiber. */

static __attribute__ ((noinline)) void
leave (State state)
{
  Fiber *fiber = running ();

  fiber->state = state;
#ifdef SWITCHES_ARE_SAID
  __sanitizer_start_switch_fiber (&fiber->fake_stack, emulator.scheduler_stack,
                                  emulator.scheduler_size);
#endif
  if (_setjmp (fiber->jump) == 0)
    _longjmp (emulator.jump, 1);
  fiber = running ();
#ifdef SWITCHES_ARE_SAID
  __sanitizer_finish_switch_fiber (fiber->fake_stack, NULL, NULL);
#endif
}

static void
fiber_main (void)
{
#ifdef SWITCHES_ARE_SAID
  __sanitizer_finish_switch_fiber (NULL, (const void **) &emulator.scheduler_stack,
                                   &emulator.scheduler_size);
#endif
  for (;;)
    {
      emulator.kernel->run (emulator.args);
      leave (ENDED);
    }
}

static __attribute__ ((noinline)) void
enter (Fiber *fiber, int thread)
{
  if (fiber->started)
    _longjmp (fiber->jump, 1);
  fiber->started = true;
  getcontext (&fiber->context);
  fiber->context.uc_stack.ss_sp = stack_of (thread);
  fiber->context.uc_stack.ss_size = STACK;
  fiber->context.uc_link = NULL;
  makecontext (&fiber->context, fiber_main, 0);
  setcontext (&fiber->context);
}

static __attribute__ ((noinline)) void
resume (int thread)
{
  Fiber *fiber = &emulator.fibers[thread];
#ifdef SWITCHES_ARE_SAID
  void *fake = NULL;
#endif

  adj_emulated.thread = thread;
  fiber->state = RUNS;
  adj_race_enter (stack_of (thread), STACK);
#ifdef SWITCHES_ARE_SAID
  __sanitizer_start_switch_fiber (&fake, stack_of (thread), STACK);
#endif
  if (_setjmp (emulator.jump) == 0)
    enter (fiber, thread);
#ifdef SWITCHES_ARE_SAID
  __sanitizer_finish_switch_fiber (fake, NULL, NULL);
#endif
}

/* -- a block -- */

static bool
all_wait (int first, int end, State state)
{
  bool any = false;

  for (int t = first; t < end; t++)
    {
      if (emulator.fibers[t].state != state && emulator.fibers[t].state != ENDED)
        return false;
      any |= emulator.fibers[t].state == state;
    }
  return any;
}

static bool
has_ended (int first, int end)
{
  for (int t = first; t < end; t++)
    if (emulator.fibers[t].state == ENDED)
      return true;
  return false;
}

static void
run_while_possible (int first, int end)
{
  for (int t = first; t < end; t++)
    resume (t);
}

static void
note_divergence (const char *what)
{
  char text[256];

  snprintf (text, sizeof text, "%s: block %lld: not all threads reach %s", emulator.kernel->symbol,
            (long long) adj_emulated.block, what);
  adj_race_note (text);
}

/* Runs warps until all threads wait at the block's barrier or have ended; false when no thread
 * can run. */
static bool
run_warps (void)
{
  bool moved = false;

  for (int first = 0; first < adj_emulated.threads; first += WARP)
    {
      int end = first + WARP < adj_emulated.threads ? first + WARP : adj_emulated.threads;

      while (all_wait (first, end, IN_WARP))
        {
          if (has_ended (first, end))
            note_divergence ("a shuffle");
          run_while_possible (first, end);
          moved = true;
        }
    }
  return moved;
}

static void
run_block (void)
{
  adj_race_begin_block (adj_emulated.block);
  run_while_possible (0, adj_emulated.threads);
  for (;;)
    {
      run_warps ();
      if (!all_wait (0, adj_emulated.threads, AT_BARRIER))
        break;
      if (has_ended (0, adj_emulated.threads))
        note_divergence ("a barrier");
      adj_race_pass_barrier ();
      for (int t = 0; t < adj_emulated.threads; t++)
        if (emulator.fibers[t].state == AT_BARRIER)
          resume (t);
    }
  for (int t = 0; t < adj_emulated.threads; t++)
    if (emulator.fibers[t].state != ENDED)
      {
        note_divergence ("the same barrier");
        emulator.fibers[t].started = false;
      }
}

/* -- what kernels call -- */

void
adj_emulated_sync (void)
{
  leave (AT_BARRIER);
}

void
adj_emulated_shuffle (const void *x, void *out, unsigned size, int by)
{
  int lane = adj_emulated.thread % WARP;

  memcpy (&running ()->offered, x, size);
  leave (IN_WARP);
  if (lane + by < WARP && adj_emulated.thread + by < adj_emulated.threads)
    memcpy (out, &running ()[by].offered, size);
  leave (IN_WARP);
}

void
count_one (int64_t *at)
{
  adj_race_touch_atomic (at, sizeof *at);
  ++*at;
}

void
set_min (int64_t *at, int64_t x)
{
  adj_race_touch_atomic (at, sizeof *at);
  if (x < *at)
    *at = x;
}

void
set_flag (int32_t *at)
{
  adj_race_touch_atomic (at, sizeof *at);
  *at = 1;
}

void
set_flag_f32 (float *at)
{
  adj_race_touch_atomic (at, sizeof *at);
  *at = 1;
}

/* -- launches -- */

const AdjEmulatedKernel *
adj_emulator_find (const char *symbol)
{
  for (const AdjEmulatedKernel *kernel = adj_emulated_kernels; kernel->symbol != NULL; kernel++)
    if (strcmp (kernel->symbol, symbol) == 0)
      return kernel;
  return NULL;
}

void
adj_emulator_launch (const AdjEmulatedKernel *kernel,
                     uint32_t blocks,
                     uint32_t threads,
                     const void *args)
{
  ptrdiff_t index = kernel - adj_emulated_kernels;

  if (emulator.stacks == NULL)
    emulator.stacks = malloc ((size_t) MAX_THREADS * STACK);
  if (emulator.stacks == NULL || threads > MAX_THREADS)
    abort ();
  emulator.kernel = kernel;
  emulator.args = args;
  if (index >= 0 && index < MAX_KERNELS)
    emulator.counts[index]++;
  adj_emulated = (AdjEmulated){ .threads = (int) threads, .blocks = blocks };
  adj_race_begin_launch (kernel->symbol);
  adj_race_set_arguments (args, kernel->size);
  for (uint32_t block = 0; block < blocks; block++)
    {
      adj_emulated.block = block;
      run_block ();
    }
  adj_race_end_launch ();
}

const uint32_t *
adj_emulator_get_counts (void)
{
  return emulator.counts;
}
