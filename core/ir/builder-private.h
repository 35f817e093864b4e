/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-builder-internal.h"
#include "ir/adj-graph-private.h"

G_BEGIN_DECLS

struct _AdjBuilder
{
  AdjArena *arena;
  GPtrArray *references;
  AdjSymbols *symbols;
  AdjFindOpFunc find_op; /* (nullable) */
  GHashTable *own_ops;   /* (owned) (nullable): target → AdjOp that @find_op does not know */
  char *name;
  AdjHeader header;
  char *parameters;
  AdjThreadState thread_state;

  GArray *nodes;       /* AdjNode */
  AdjNamespace *names; /* of the nodes */
  GHashTable *metas;   /* one copy of each description */
  GHashTable *frames;  /* interned stack trace → Frames */
  GArray *subgraphs;   /* AdjNamedGraph */
  GArray *attrs;       /* AdjNamedValue */

  GArray *mentioned; /* guint32 per node: the last node that mentioned it, plus one */
  GArray *inputs;    /* AdjNodeId: those of the node being added */
  GError *error;     /* the first mistake */
};

G_END_DECLS
