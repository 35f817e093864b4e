/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Whether @leaf counts a reference (a tensor, a constant, a graph). */
gboolean adj_value_is_reference (const AdjValue *leaf);

/* A set of tensor descriptions that live in an arena, for adj_value_copy_consed(). */
GHashTable *adj_meta_table_new (void);

/* adj_value_copy_to_arena() that keeps one copy of equal descriptions; @metas is nullable. */
AdjValue adj_value_copy_consed (const AdjValue *value, AdjArena *arena, GHashTable *metas);

G_END_DECLS
