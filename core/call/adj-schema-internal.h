/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-schema.h"

G_BEGIN_DECLS

/* @arena owns the result. */
const AdjSchema *adj_schema_parse (const char *text, AdjArena *arena, GError **error);

/* Whether what a call writes is of another version then.  As in PyTorch not of what an operator
 * writes on the side, beside results of its own: the running statistics of batch norm. */
gboolean adj_schema_counts_writes (const AdjSchema *schema);

G_END_DECLS
