/* SPDX-License-Identifier: MIT */
/* Stands between the library and the allocator (the linker's --wrap): every byte of every tensor
 * comes from g_aligned_alloc0(), in blocks of one. */

#include "high-water.h"

#include <string.h>

#define STORAGE_ALIGNMENT 64

gpointer __real_g_aligned_alloc0 (gsize n_blocks, gsize block_bytes, gsize alignment);
void __real_g_aligned_free (gpointer memory);
gpointer __wrap_g_aligned_alloc0 (gsize n_blocks, gsize block_bytes, gsize alignment);
void __wrap_g_aligned_free (gpointer memory);

static GHashTable *blocks; /* address → bytes; %NULL: nobody counts */
static gsize alive, highest;

gpointer
__wrap_g_aligned_alloc0 (gsize n_blocks, gsize block_bytes, gsize alignment)
{
  gpointer memory = __real_g_aligned_alloc0 (n_blocks, block_bytes, alignment);

  if (blocks != NULL && block_bytes == 1 && alignment == STORAGE_ALIGNMENT)
    {
      g_hash_table_insert (blocks, memory, GSIZE_TO_POINTER (n_blocks));
      alive += n_blocks;
      highest = MAX (highest, alive);
    }
  return memory;
}

void
__wrap_g_aligned_free (gpointer memory)
{
  gpointer n_bytes;

  if (blocks != NULL && g_hash_table_steal_extended (blocks, memory, NULL, &n_bytes))
    alive -= GPOINTER_TO_SIZE (n_bytes);
  __real_g_aligned_free (memory);
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
