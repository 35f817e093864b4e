/* SPDX-License-Identifier: MIT */
/* An AdjKDevice on top of the emulator, for tests of single kernels. */

#include "emulated-queue.h"

#include <stdlib.h>
#include <string.h>

#include "adj-emulator.h"
#include "adj-kernel-cuda.h"

/* Header before each allocation. */
typedef struct Chunk
{
  struct Chunk *next;
  char padding[56];
} Chunk;

static bool
launch (
    AdjKQueue *queue, const char *symbol, const AdjKLaunch *shape, const void *args, size_t size)
{
  const AdjEmulatedKernel *kernel = adj_emulator_find (symbol);

  if (kernel == NULL || kernel->size != size)
    abort ();
  adj_emulator_launch (kernel, shape->grid[0], shape->block[0], args);
  return true;
}

static void *
scratch (AdjKQueue *queue, size_t bytes)
{
  EmulatedQueue *self = (EmulatedQueue *) queue;
  Chunk *chunk = malloc (sizeof *chunk + bytes);

  if (chunk == NULL)
    return NULL;
  chunk->next = self->memory;
  self->memory = chunk;
  memset (chunk + 1, 0xa5, bytes);
  return chunk + 1;
}

static const void *
constant (AdjKQueue *queue, const void *bytes, size_t size)
{
  void *copy = scratch (queue, size);

  return copy != NULL ? memcpy (copy, bytes, size) : NULL;
}

static const AdjKDevice device = { .launch = launch, .scratch = scratch, .constant = constant };

void
emulated_queue_init (EmulatedQueue *self)
{
  *self = (EmulatedQueue){ .queue = { .backend = &adj_k_cuda_backend, .device = &device },
                           .faults = ADJ_K_NO_FAULTS };
  self->queue.faults = &self->faults;
}

void
emulated_queue_clear (EmulatedQueue *self)
{
  while (self->memory != NULL)
    {
      Chunk *chunk = self->memory;

      self->memory = chunk->next;
      free (chunk);
    }
  self->faults = ADJ_K_NO_FAULTS;
}
