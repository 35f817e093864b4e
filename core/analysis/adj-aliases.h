/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Which nodes share memory. */

typedef enum
{
  ADJ_ALIAS_NONE,    /* its memory is its own */
  ADJ_ALIAS_VIEW,    /* a view of its base, or a copy where a view is impossible (reshape) */
  ADJ_ALIAS_SAME,    /* the base itself, after a write */
  ADJ_ALIAS_ITEM,    /* one of the results of its base, with its own memory */
  ADJ_ALIAS_UNKNOWN, /* of a call without schema: may be its base or a view of it */
} AdjAliasKind;

typedef struct
{
  AdjAliasKind kind; /* by the schema of its call */
  guint32 base;      /* another node; itself for NONE */
  guint32 must; /* the first node in the same storage: by storage numbers of annotations, else by
                   schemas */
  guint32 may;  /* the first node that may be in the same storage */
} AdjAlias;

/* Of every node.  (transfer none) (array length=n_nodes): valid as long as @graph. */
const AdjAlias *adj_graph_get_aliases (const AdjGraph *graph);

G_END_DECLS
