/* SPDX-License-Identifier: MIT */
/* Placements of blocks kept in files between sessions, found by the hash of the block. */

#include "base/adj-file-internal.h"
#include "base/adj-file-writer.h"
#include "layout/layout-cache-private.h"

/* Part of every key: to be changed with Graphviz's settings, which change the placement. */
#define VERSION "mirror-1"
#define MAX_FILE (16u << 20)

struct _AdjLayoutCache
{
  gatomicrefcount refs;
  GMutex lock;
  GHashTable *kept; /* key → GBytes of a placement */
  char *folder;
};

AdjLayoutCache *
adj_layout_cache_new (const char *folder)
{
  AdjLayoutCache *cache = g_new0 (AdjLayoutCache, 1);

  g_atomic_ref_count_init (&cache->refs);
  g_mutex_init (&cache->lock);
  cache->kept =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  cache->folder = g_strdup (folder);
  return cache;
}

AdjLayoutCache *
adj_layout_cache_ref (AdjLayoutCache *cache)
{
  g_atomic_ref_count_inc (&cache->refs);
  return cache;
}

void
adj_layout_cache_unref (AdjLayoutCache *cache)
{
  if (!g_atomic_ref_count_dec (&cache->refs))
    return;
  g_hash_table_unref (cache->kept);
  g_mutex_clear (&cache->lock);
  g_free (cache->folder);
  g_free (cache);
}

char *
adj_layout_cache_key (const AdjBlockGraph *graph)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GBytes) bytes = adj_block_graph_to_bytes (graph);

  g_checksum_update (sum, (const guint8 *) VERSION, sizeof VERSION);
  g_checksum_update (sum, g_bytes_get_data (bytes, NULL), (gssize) g_bytes_get_size (bytes));
  return g_strdup (g_checksum_get_string (sum));
}

static char *
file_for (const AdjLayoutCache *self, const char *key)
{
  g_autofree char *name = g_strconcat (key, ".place", NULL);

  return g_build_filename (self->folder, name, NULL);
}

static GBytes *
read_file (const AdjLayoutCache *self, const char *key)
{
  g_autofree char *path = file_for (self, key);

  return adj_file_read (path, ADJ_FILE_WHOLE, MAX_FILE, NULL, NULL);
}

AdjPlacement *
adj_layout_cache_find (AdjLayoutCache *cache, const char *key, const AdjBlockGraph *graph)
{
  g_autoptr (GBytes) bytes = NULL;
  AdjPlacement *placement;
  GBytes *kept;

  g_mutex_lock (&cache->lock);
  kept = g_hash_table_lookup (cache->kept, key);
  bytes = kept ? g_bytes_ref (kept) : NULL;
  g_mutex_unlock (&cache->lock);
  if (!bytes && cache->folder)
    bytes = read_file (cache, key);
  placement = bytes ? adj_placement_from_bytes (bytes, graph) : NULL;
  if (placement && !kept)
    {
      g_mutex_lock (&cache->lock);
      g_hash_table_insert (cache->kept, g_strdup (key), g_bytes_ref (bytes));
      g_mutex_unlock (&cache->lock);
    }
  return placement;
}

void
adj_layout_cache_keep (AdjLayoutCache *cache, const char *key, const AdjPlacement *placement)
{
  g_autoptr (GBytes) bytes = adj_placement_to_bytes (placement);

  g_mutex_lock (&cache->lock);
  g_hash_table_insert (cache->kept, g_strdup (key), g_bytes_ref (bytes));
  g_mutex_unlock (&cache->lock);
  if (cache->folder && g_mkdir_with_parents (cache->folder, 0700) == 0)
    {
      g_autofree char *path = file_for (cache, key);

      /* An error is ignored: the cache is only slower then. */
      adj_file_write (path, g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                      ADJ_FILE_CACHE, NULL);
    }
}
