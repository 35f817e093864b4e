/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

/* A queue whose device is the emulator: launches are finished when they return; memory comes
 * from malloc(). */
typedef struct
{
  AdjKQueue queue;
  AdjKFaults faults;
  void *memory; /* chunks, freed by emulated_queue_clear() */
} EmulatedQueue;

void emulated_queue_init (EmulatedQueue *self);

/* Frees scratch memory and clears faults. */
void emulated_queue_clear (EmulatedQueue *self);
