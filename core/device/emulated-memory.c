/* SPDX-License-Identifier: MIT */
/* Memory that only the emulated GPU can access: protected pages, first-fit blocks. */

#include <string.h>
#include <sys/mman.h>

#include "device/emulated-memory-private.h"

#define ALIGNMENT 256
/* Bytes behind each block, to detect overruns of a kernel. */
#define FENCE 256
#define FRESH 0xA5
#define FENCED 0xC3

typedef struct
{
  gsize start, n_bytes;
} EmulatedBlock;

static gsize
span_of (gsize n_bytes)
{
  return (MAX (n_bytes, 1) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + FENCE;
}

static EmulatedBlock *
block_at (const EmulatedMemory *self, guint i)
{
  return &g_array_index (self->blocks, EmulatedBlock, i);
}

void
emulated_memory_init (EmulatedMemory *self, gsize n_bytes)
{
  *self = (EmulatedMemory){ .n_bytes = n_bytes };
  self->base = mmap (NULL, n_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (self->base == MAP_FAILED)
    g_error ("no %" G_GSIZE_FORMAT " bytes of addresses for an emulated GPU", n_bytes);
  self->blocks = g_array_new (FALSE, FALSE, sizeof (EmulatedBlock));
}

void
emulated_memory_clear (EmulatedMemory *self)
{
  munmap (self->base, self->n_bytes);
  g_array_unref (self->blocks);
}

void
emulated_memory_open (EmulatedMemory *self)
{
  if (self->n_open++ == 0)
    mprotect (self->base, self->n_bytes, PROT_READ | PROT_WRITE);
}

void
emulated_memory_close (EmulatedMemory *self)
{
  if (--self->n_open == 0)
    mprotect (self->base, self->n_bytes, PROT_NONE);
}

gpointer
emulated_memory_take (EmulatedMemory *self, gsize n_bytes)
{
  EmulatedBlock block = { 0, n_bytes };
  guint at = 0;

  for (; at < self->blocks->len; at++)
    {
      const EmulatedBlock *next = block_at (self, at);

      if (next->start - block.start >= span_of (n_bytes))
        break;
      block.start = next->start + span_of (next->n_bytes);
    }
  if (n_bytes > self->n_bytes || self->n_bytes - block.start < span_of (n_bytes))
    return NULL;
  g_array_insert_val (self->blocks, at, block);
  self->n_used += n_bytes;
  emulated_memory_open (self);
  memset (self->base + block.start, FRESH, n_bytes);
  memset (self->base + block.start + n_bytes, FENCED, span_of (n_bytes) - n_bytes);
  emulated_memory_close (self);
  return self->base + block.start;
}

static gboolean
is_fence_whole (EmulatedMemory *self, const EmulatedBlock *block)
{
  const guint8 *fence = (const guint8 *) self->base + block->start + block->n_bytes;
  gsize n = span_of (block->n_bytes) - block->n_bytes;
  gboolean whole = TRUE;

  emulated_memory_open (self);
  for (gsize i = 0; i < n && whole; i++)
    whole = fence[i] == FENCED;
  emulated_memory_close (self);
  return whole;
}

void
emulated_memory_drop (EmulatedMemory *self, gpointer memory)
{
  for (guint i = 0; i < self->blocks->len; i++)
    {
      EmulatedBlock *block = block_at (self, i);

      if (self->base + block->start != (char *) memory)
        continue;
      if (!is_fence_whole (self, block))
        g_error ("a kernel wrote past the end of %" G_GSIZE_FORMAT " bytes of the emulated GPU",
                 block->n_bytes);
      self->n_used -= block->n_bytes;
      g_array_remove_index (self->blocks, i);
      return;
    }
}

gboolean
emulated_memory_holds (const EmulatedMemory *self, gconstpointer memory, gsize n_bytes)
{
  for (guint i = 0; i < self->blocks->len; i++)
    {
      const EmulatedBlock *block = block_at (self, i);
      const char *start = self->base + block->start, *at = memory;

      if (at >= start && at <= start + block->n_bytes &&
          n_bytes <= (gsize) (start + block->n_bytes - at))
        return TRUE;
    }
  return FALSE;
}
