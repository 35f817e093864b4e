/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Copies everything into @arena but references, which the caller keeps alive (see AdjBuilder). */
AdjValue adj_value_copy_to_arena (const AdjValue *value, AdjArena *arena);

G_END_DECLS
