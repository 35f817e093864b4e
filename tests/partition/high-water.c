/* SPDX-License-Identifier: MIT */
/* Replaces GLib's allocation functions, which the program's own definitions override: every
 * tensor is allocated by g_aligned_alloc0(), each in its own block. */

#include "high-water.h"

#include <dlfcn.h>
#include <string.h>

#define STORAGE_ALIGNMENT 64

typedef gpointer (*Allocate) (gsize n_blocks, gsize block_bytes, gsize alignment);
typedef void (*Free) (gpointer memory);

static GHashTable *blocks; /* address → bytes; %NULL: not counting */
static gsize alive, highest;

gpointer
g_aligned_alloc0 (gsize n_blocks, gsize block_bytes, gsize alignment)
{
  static Allocate allocate;
  gpointer memory;

  if (allocate == NULL)
    allocate = (Allocate) dlsym (RTLD_NEXT, "g_aligned_alloc0");
  memory = allocate (n_blocks, block_bytes, alignment);
  if (blocks != NULL && block_bytes == 1 && alignment == STORAGE_ALIGNMENT)
    {
      g_hash_table_insert (blocks, memory, GSIZE_TO_POINTER (n_blocks));
      alive += n_blocks;
      highest = MAX (highest, alive);
    }
  return memory;
}

void
g_aligned_free (gpointer memory)
{
  static Free release;
  gpointer n_bytes;

  if (release == NULL)
    release = (Free) dlsym (RTLD_NEXT, "g_aligned_free");
  if (blocks != NULL && g_hash_table_steal_extended (blocks, memory, NULL, &n_bytes))
    alive -= GPOINTER_TO_SIZE (n_bytes);
  release (memory);
}

void
high_water_start (void)
{
  g_assert_null (blocks);
  blocks = g_hash_table_new (NULL, NULL);
  alive = highest = 0;
}

gsize
high_water_stop (void)
{
  g_clear_pointer (&blocks, g_hash_table_unref);
  return highest;
}
