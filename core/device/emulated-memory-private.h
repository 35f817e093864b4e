/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-error.h"

G_BEGIN_DECLS

/* The memory of an emulated GPU, which cannot be accessed while it is closed.  New memory is filled
 * with a pattern, and writes past the end of a block are detected when it is released. */
typedef struct
{
  char *base; /* (owned) */
  gsize n_bytes, n_used;
  GArray *blocks; /* EmulatedBlock, by place */
  guint n_open;
} EmulatedMemory;

void emulated_memory_init (EmulatedMemory *self, gsize n_bytes);
void emulated_memory_clear (EmulatedMemory *self);
/* (nullable): %NULL: there is not enough memory. */
gpointer emulated_memory_take (EmulatedMemory *self, gsize n_bytes);
/* Does nothing where there is no block @memory, which a reset has freed. */
void emulated_memory_drop (EmulatedMemory *self, gpointer memory);
/* Whether @n_bytes from @memory on lie in one block. */
gboolean emulated_memory_holds (const EmulatedMemory *self, gconstpointer memory, gsize n_bytes);
/* Between these two calls it can be accessed. */
void emulated_memory_open (EmulatedMemory *self);
void emulated_memory_close (EmulatedMemory *self);

G_END_DECLS
