/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-schema.h"

G_BEGIN_DECLS

/* @arena owns the result. */
const AdjSchema *adj_schema_parse (const char *text, AdjArena *arena, GError **error);

G_END_DECLS
