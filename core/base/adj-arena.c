/* SPDX-License-Identifier: MIT */
/* A bump allocator whose blocks are freed together, with interned strings. */

#include "base/adj-arena.h"

#include <stddef.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define SINGLE_BLOCKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINGLE_BLOCKS 1
#endif
#endif

#ifndef SINGLE_BLOCKS
#define SINGLE_BLOCKS 0
#endif

#define ALIGNMENT 16
#define FIRST_CHUNK 1024
#define LARGEST_CHUNK (256 * 1024)

typedef struct _Chunk Chunk;

struct _Chunk
{
  Chunk *next;
  gsize capacity;
  _Alignas(ALIGNMENT) guint8 bytes[];
};

struct _AdjArena
{
  Chunk *chunks; /* the one being filled comes first */
  gsize used;    /* of the first chunk */
  gsize next_capacity;
  gsize size;
  GHashTable *interned; /* (nullable): texts, owned by the arena */
};

AdjArena *
adj_arena_new (void)
{
  AdjArena *arena = g_new0 (AdjArena, 1);

  arena->next_capacity = FIRST_CHUNK;
  return arena;
}

void
adj_arena_free (AdjArena *arena)
{
  Chunk *next;

  if (arena == NULL)
    return;

  for (Chunk *chunk = arena->chunks; chunk != NULL; chunk = next)
    {
      next = chunk->next;
      if (_Alignof(max_align_t) >= ALIGNMENT)
        g_free (chunk);
      else
        g_aligned_free (chunk);
    }
  g_clear_pointer (&arena->interned, g_hash_table_unref);
  g_free (arena);
}

static Chunk *
new_chunk (gsize capacity)
{
  gsize n_bytes;
  Chunk *chunk;

  if (!g_size_checked_add (&n_bytes, sizeof (Chunk), capacity))
    g_error ("cannot allocate %" G_GSIZE_FORMAT " bytes", capacity);

  chunk = _Alignof(max_align_t) >= ALIGNMENT ? g_malloc (n_bytes)
                                             : g_aligned_alloc (1, n_bytes, ALIGNMENT);
  chunk->next = NULL;
  chunk->capacity = capacity;
  return chunk;
}

static gpointer
alloc_single (AdjArena *arena, gsize n_bytes)
{
  Chunk *chunk = new_chunk (n_bytes);

  /* Inserts the block behind the first chunk, which stays the one being filled. */
  if (arena->chunks != NULL && !SINGLE_BLOCKS)
    {
      chunk->next = arena->chunks->next;
      arena->chunks->next = chunk;
    }
  else
    {
      chunk->next = arena->chunks;
      arena->chunks = chunk;
      arena->used = n_bytes;
    }
  return chunk->bytes;
}

/* Uninitialised memory. */
static gpointer
alloc_unset (AdjArena *arena, gsize n_bytes)
{
  gsize padded;
  gpointer at;

  if (!g_size_checked_add (&padded, n_bytes, ALIGNMENT - 1))
    g_error ("cannot allocate %" G_GSIZE_FORMAT " bytes", n_bytes);
  padded -= padded % ALIGNMENT;
  arena->size += n_bytes;

  if (SINGLE_BLOCKS)
    return alloc_single (arena, n_bytes);
  if (padded > arena->next_capacity / 4)
    return alloc_single (arena, padded);

  if (arena->chunks == NULL || arena->chunks->capacity - arena->used < padded)
    {
      Chunk *chunk = new_chunk (arena->next_capacity);

      chunk->next = arena->chunks;
      arena->chunks = chunk;
      arena->used = 0;
      arena->next_capacity = MIN (arena->next_capacity * 2, (gsize) LARGEST_CHUNK);
    }

  at = arena->chunks->bytes + arena->used;
  arena->used += padded;
  return at;
}

gpointer
adj_arena_alloc (AdjArena *arena, gsize n_bytes)
{
  g_return_val_if_fail (arena != NULL, NULL);

  return memset (alloc_unset (arena, n_bytes), 0, n_bytes);
}

gpointer
adj_arena_alloc_n (AdjArena *arena, gsize n, gsize n_bytes)
{
  gsize total;

  if (!g_size_checked_mul (&total, n, n_bytes))
    g_error ("cannot allocate %" G_GSIZE_FORMAT " times %" G_GSIZE_FORMAT " bytes", n, n_bytes);
  return adj_arena_alloc (arena, total);
}

gpointer
adj_arena_memdup (AdjArena *arena, gconstpointer bytes, gsize n_bytes)
{
  gpointer copy;

  g_return_val_if_fail (arena != NULL, NULL);

  copy = alloc_unset (arena, n_bytes);
  if (n_bytes > 0)
    memcpy (copy, bytes, n_bytes);
  return copy;
}

char *
adj_arena_strdup (AdjArena *arena, const char *text)
{
  return text != NULL ? adj_arena_strndup (arena, text, strlen (text)) : NULL;
}

char *
adj_arena_strndup (AdjArena *arena, const char *text, gsize length)
{
  char *copy;

  g_return_val_if_fail (arena != NULL && length < G_MAXSIZE, NULL);

  copy = alloc_unset (arena, length + 1);
  memcpy (copy, text, length);
  copy[length] = '\0';
  return copy;
}

const char *
adj_arena_intern (AdjArena *arena, const char *text)
{
  const char *known;
  char *copy;

  g_return_val_if_fail (text != NULL, NULL);

  if (arena->interned == NULL)
    arena->interned = g_hash_table_new (g_str_hash, g_str_equal);
  known = g_hash_table_lookup (arena->interned, text);
  if (known != NULL)
    return known;

  copy = adj_arena_strdup (arena, text);
  g_hash_table_add (arena->interned, copy);
  return copy;
}

gsize
adj_arena_get_size (const AdjArena *arena)
{
  return arena->size;
}
