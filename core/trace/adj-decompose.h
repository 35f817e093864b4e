/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* A set of operators that a compiler back end does not support: each has a `.decompose` rule in
 * terms of simpler ones.  The operators' records name the sets that they belong to. */
typedef struct
{
  const char *name;    /* "core" */
  const char *summary; /* one line */
  guint bit;           /* AdjTables */
} AdjDecompositions;

/* The available sets. */
ADJ_PUBLIC guint adj_decompositions_get_n (void);
ADJ_PUBLIC const AdjDecompositions *adj_decompositions_get (guint index);
/* (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names the available ones. */
ADJ_PUBLIC const AdjDecompositions *adj_decompositions_find (const char *name, GError **error);

/* (transfer full): the mode that decomposes the operators of @table, also those called by a rule;
 * push it above the mode that records and below autograd. */
ADJ_PUBLIC AdjMode *adj_decompose_mode_new (const AdjDecompositions *table);

G_END_DECLS
