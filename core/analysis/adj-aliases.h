/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Who shares memory with whom. */

typedef enum
{
  ADJ_ALIAS_NONE,    /* its memory is its own */
  ADJ_ALIAS_VIEW,    /* shows memory of its base, or a copy of it where a view cannot (reshape) */
  ADJ_ALIAS_SAME,    /* is its base, which it wrote */
  ADJ_ALIAS_ITEM,    /* one of the results of its base, with memory of its own */
  ADJ_ALIAS_UNKNOWN, /* of a call that no schema describes: may be its base, or a view of it */
} AdjAliasKind;

typedef struct
{
  AdjAliasKind kind; /* by the schema of its call */
  guint32 base;      /* another node; itself for NONE */
  guint32 must;      /* the first node in the same storage: annotations name storages, and what
                        they do not name lies where schemas say */
  guint32 may;       /* the first node that may be in the same storage */
} AdjAlias;

/* Of every node.  (transfer none) (array length=n_nodes): valid as long as @graph. */
const AdjAlias *adj_graph_get_aliases (const AdjGraph *graph);

G_END_DECLS
