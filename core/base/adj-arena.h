/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* A bump allocator: allocations live until the arena is freed and cannot be freed one by one.
 * Under AddressSanitizer each allocation is a block of its own, so overruns are seen. */
typedef struct _AdjArena AdjArena;

AdjArena *adj_arena_new (void);
void adj_arena_free (AdjArena *arena);

/* Zeroed memory, aligned to 16 bytes; aborts like g_malloc() when memory is out. */
gpointer adj_arena_alloc (AdjArena *arena, gsize n_bytes);
/* The same for @n times @n_bytes; aborts when the product overflows. */
gpointer adj_arena_alloc_n (AdjArena *arena, gsize n, gsize n_bytes);
gpointer adj_arena_memdup (AdjArena *arena, gconstpointer bytes, gsize n_bytes);
char *adj_arena_strdup (AdjArena *arena, const char *text);
char *adj_arena_strndup (AdjArena *arena, const char *text, gsize length);

/* The one copy of @text in @arena: equal texts give equal pointers. */
const char *adj_arena_intern (AdjArena *arena, const char *text);

/* Bytes handed out so far. */
gsize adj_arena_get_size (const AdjArena *arena);

#define adj_arena_new0(arena, type, n) ((type *) adj_arena_alloc_n ((arena), (n), sizeof (type)))

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjArena, adj_arena_free)

G_END_DECLS
