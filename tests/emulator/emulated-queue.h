/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-backend.h"

/* A queue whose device is the emulator: launches are done when they return, memory is malloc's. */
typedef struct
{
  AdjKQueue queue;
  AdjKFaults faults;
  void *memory; /* chunks, freed by emulated_queue_clear() */
} EmulatedQueue;

void emulated_queue_init (EmulatedQueue *self);

/* Frees scratch memory and forgets faults. */
void emulated_queue_clear (EmulatedQueue *self);
