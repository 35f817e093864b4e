/* SPDX-License-Identifier: MIT */
/* Kernels with deliberate races, compiled like those of kernels/cuda. */

#include "planted-races.h"

KERNEL (race_missing_barrier, PlantedArgs)
{
  SHARED int64_t values[64];

  values[THREAD] = THREAD;
  args.out[THREAD] = values[(THREAD + 1) % THREADS];
}

KERNEL (race_none, PlantedArgs)
{
  SHARED int64_t values[64];

  values[THREAD] = THREAD;
  sync_block ();
  args.out[THREAD] = values[(THREAD + 1) % THREADS];
}

KERNEL (race_between_blocks, PlantedArgs)
{
  if (THREAD == 0)
    args.out[0] = BLOCK;
}

KERNEL (race_same_word, PlantedArgs) { args.out[0] = THREAD; }

KERNEL (race_read, PlantedArgs)
{
  int64_t x = args.out[0];

  args.out[THREAD + 1] = x;
  if (THREAD == 5)
    args.out[0] = x + 1;
}

KERNEL (race_atomic, PlantedArgs) { count_one (&args.out[0]); }

KERNEL (race_divergence, PlantedArgs)
{
  if (THREAD < 8)
    sync_block ();
}

KERNEL (race_host_read, PlantedArgs) { args.out[THREAD] = args.elsewhere[0]; }

KERNEL (race_past_end, PlantedArgs) { args.out[THREAD + 2] = 0; }
