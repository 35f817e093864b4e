/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Copies everything into @arena but references, which the caller keeps alive (see AdjBuilder). */
AdjValue adj_value_copy_to_arena (const AdjValue *value, AdjArena *arena);

/* (nullable): what @dict has under @name; @dict (nullable) may be no DICT. */
const AdjValue *adj_value_find_member (const AdjValue *dict, const char *name);

/* Reads the data of tensors in @value that is not loaded yet; %FALSE if that fails, or failed
 * before. */
gboolean adj_value_fetch (const AdjValue *value, GError **error);
gboolean adj_values_fetch (const AdjValue *values, guint n, GError **error);

G_END_DECLS
