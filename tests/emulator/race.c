/* SPDX-License-Identifier: MIT */
/* Race detector: keeps for every byte that a launch accesses the last writer and the last two
 * readers, and checks that the byte is device memory. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adj-emulator.h"
#include "emulator.h"
#include "race-private.h"

/* A thread between two barriers; thread -1: none. */
typedef struct
{
  int32_t block, thread, epoch;
  bool atomic;
} Who;

typedef struct
{
  uintptr_t at; /* 0: free */
  uint32_t launch;
  Who writer, readers[2];
} Byte;

enum
{
  FIRST_BITS = 12
};

static struct
{
  Byte *bytes;
  int bits;
  size_t n;
  uint32_t launch;
  const char *kernel; /* NULL outside of launches */
  int32_t epoch;
  const char *stack;
  size_t stack_size;
  const char *args;
  size_t args_size;
  AdjEmulatorHolds holds; /* NULL: all memory is the device's */
  const void *device;
  char problem[256];
} race;

/* Bounds of the shared variables of all kernels. */
extern char __start_adj_shared[] __attribute__ ((weak));
extern char __stop_adj_shared[] __attribute__ ((weak));

static const Who nobody = { .thread = -1 };

/* -- the table of bytes -- */

static Byte *
find (uintptr_t at)
{
  size_t mask = ((size_t) 1 << race.bits) - 1;
  size_t i = (size_t) ((at * UINT64_C (0x9e3779b97f4a7c15)) >> 20) & mask;

  while (race.bytes[i].launch == race.launch && race.bytes[i].at != at)
    i = (i + 1) & mask;
  return &race.bytes[i];
}

static void
grow (void)
{
  Byte *old = race.bytes;
  size_t n = old ? (size_t) 1 << race.bits : 0;

  race.bits = old ? race.bits + 2 : FIRST_BITS;
  race.bytes = calloc ((size_t) 1 << race.bits, sizeof *race.bytes);
  if (race.bytes == NULL)
    abort ();
  for (size_t i = 0; i < n; i++)
    if (old[i].launch == race.launch)
      *find (old[i].at) = old[i];
  free (old);
}

static Byte *
byte_at (uintptr_t at)
{
  Byte *byte;

  if (race.bytes == NULL || race.n * 2 > (size_t) 1 << race.bits)
    grow ();
  byte = find (at);
  if (byte->launch != race.launch)
    {
      *byte = (Byte){
        .at = at, .launch = race.launch, .writer = nobody, .readers = { nobody, nobody }
      };
      race.n++;
    }
  return byte;
}

/* -- accesses -- */

static bool
is_shared (const char *at)
{
  return at >= __start_adj_shared && at < __stop_adj_shared;
}

/* Whether the accesses of @before and @now are unordered, and not both atomic. */
static bool
meet (const Who *before, const Who *now, bool shared)
{
  if (before->thread < 0 || (before->atomic && now->atomic))
    return false;
  if (before->block != now->block)
    return !shared;
  return before->thread != now->thread && before->epoch == now->epoch;
}

static void
note (const Who *before, const Who *now, const char *at, const char *what)
{
  char text[256];

  snprintf (text, sizeof text,
            "%s: race: thread %d of block %d and thread %d of block %d %s %s byte %p", race.kernel,
            (int) before->thread, (int) before->block, (int) now->thread, (int) now->block, what,
            is_shared (at) ? "shared" : "global", (const void *) at);
  adj_race_note (text);
}

static void
touch_byte (const char *at, bool write, const Who *now)
{
  Byte *byte = byte_at ((uintptr_t) at);
  bool shared = is_shared (at);

  if (meet (&byte->writer, now, shared))
    note (&byte->writer, now, at, write ? "write" : "write and read");
  for (int i = 0; i < 2 && write; i++)
    if (meet (&byte->readers[i], now, shared))
      note (&byte->readers[i], now, at, "read and write");
  if (write)
    {
      byte->writer = *now;
      return;
    }
  if (byte->readers[0].thread != now->thread || byte->readers[0].block != now->block)
    byte->readers[1] = byte->readers[0];
  byte->readers[0] = *now;
}

/* -- whose memory it is -- */

static bool
lies_in (const void *at, const void *start, size_t size)
{
  return (uintptr_t) at - (uintptr_t) start < size;
}

/* Whether @at is memory that a thread may always access: stack, arguments, indices. */
static bool
is_own (const char *at)
{
  return lies_in (at, race.stack, race.stack_size) || lies_in (at, race.args, race.args_size) ||
         lies_in (at, &adj_emulated, sizeof adj_emulated);
}

static void
check_owner (const char *at, size_t size, bool write)
{
  char text[256];

  if (race.holds == NULL || is_shared (at) || race.holds (race.device, at, size))
    return;
  snprintf (text, sizeof text, "%s: thread %d of block %d %s %zu bytes at %p, not the device's",
            race.kernel, adj_emulated.thread, (int) adj_emulated.block, write ? "writes" : "reads",
            size, (const void *) at);
  adj_race_note (text);
}

static void
touch (const void *memory, size_t size, bool write, bool atomic)
{
  const char *at = memory;
  const Who now = { .block = (int32_t) adj_emulated.block,
                    .thread = adj_emulated.thread,
                    .epoch = race.epoch,
                    .atomic = atomic };

  if (race.kernel == NULL || is_own (at))
    return;
  check_owner (at, size, write);
  for (size_t i = 0; i < size; i++)
    touch_byte (at + i, write, &now);
}

void
adj_race_touch_atomic (const void *at, size_t size)
{
  touch (at, size, true, true);
}

/* -- what the emulator says -- */

void
adj_race_begin_launch (const char *kernel)
{
  race.launch++;
  race.n = 0;
  race.kernel = kernel;
}

void
adj_race_end_launch (void)
{
  race.kernel = NULL;
}

void
adj_race_begin_block (int64_t block)
{
  race.epoch++;
}

void
adj_race_pass_barrier (void)
{
  race.epoch++;
}

void
adj_race_enter (const char *stack, size_t size)
{
  race.stack = stack;
  race.stack_size = size;
}

void
adj_race_set_arguments (const void *args, size_t size)
{
  race.args = args;
  race.args_size = size;
}

void
adj_emulator_confine (AdjEmulatorHolds holds, const void *device)
{
  race.holds = holds;
  race.device = device;
}

void
adj_race_note (const char *text)
{
  if (race.problem[0] == '\0')
    snprintf (race.problem, sizeof race.problem, "%s", text);
}

const char *
adj_emulator_take_problem (void)
{
  static char taken[sizeof race.problem];

  memcpy (taken, race.problem, sizeof taken);
  race.problem[0] = '\0';
  return taken[0] != '\0' ? taken : NULL;
}

/* -- what the compiler calls -- */

#define HOOK(name, size, write)                                                                    \
  void __tsan_##name (void *at);                                                                   \
  void __tsan_##name (void *at) { touch (at, size, write, false); }

HOOK (read1, 1, false)
HOOK (read2, 2, false)
HOOK (read4, 4, false)
HOOK (read8, 8, false)
HOOK (read16, 16, false)
HOOK (write1, 1, true)
HOOK (write2, 2, true)
HOOK (write4, 4, true)
HOOK (write8, 8, true)
HOOK (write16, 16, true)
HOOK (unaligned_read2, 2, false)
HOOK (unaligned_read4, 4, false)
HOOK (unaligned_read8, 8, false)
HOOK (unaligned_read16, 16, false)
HOOK (unaligned_write2, 2, true)
HOOK (unaligned_write4, 4, true)
HOOK (unaligned_write8, 8, true)
HOOK (unaligned_write16, 16, true)

void __tsan_read_range (void *at, size_t size);
void __tsan_write_range (void *at, size_t size);
void __tsan_func_entry (void *from);
void __tsan_func_exit (void);
void __tsan_init (void);

void
__tsan_read_range (void *at, size_t size)
{
  touch (at, size, false, false);
}

void
__tsan_write_range (void *at, size_t size)
{
  touch (at, size, true, false);
}

void
__tsan_func_entry (void *from)
{
}

void
__tsan_func_exit (void)
{
}

void
__tsan_init (void)
{
}
