/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "call/adj-schema.h"

G_BEGIN_DECLS

/* @arena owns the result. */
const AdjSchema *adj_schema_parse (const char *text, AdjArena *arena, GError **error);

/* Whether a call increments the version of written arguments. As in PyTorch not for arguments
 * written on the side by an operator with results of its own: the running statistics of batch norm.
 */
gboolean adj_schema_counts_writes (const AdjSchema *schema);

G_END_DECLS
