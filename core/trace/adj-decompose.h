/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* A set of operators that a compiler back end does not want to see: each has a `.decompose` rule
 * that says it in simpler ones.  The records name the tables that they stand in. */
typedef struct
{
  const char *name;    /* "core" */
  const char *summary; /* one line */
  guint bit;           /* AdjTables */
} AdjDecompositions;

/* The sets that there are. */
ADJ_PUBLIC guint adj_decompositions_get_n (void);
ADJ_PUBLIC const AdjDecompositions *adj_decompositions_get (guint index);
/* (transfer none) (nullable): %NULL with ADJ_ERROR_NOT_FOUND, which names those that there are. */
ADJ_PUBLIC const AdjDecompositions *adj_decompositions_find (const char *name, GError **error);

/* (transfer full): the mode that takes the operators of @table apart; goes above the mode that
 * records and below autograd.  What a rule calls is taken apart in turn. */
ADJ_PUBLIC AdjMode *adj_decompose_mode_new (const AdjDecompositions *table);

G_END_DECLS
