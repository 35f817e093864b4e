/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "ir/adj-graph.h"
#include "ir/adj-namespace.h"

G_BEGIN_DECLS

typedef struct
{
  const char *name;
  AdjGraph *graph; /* (owned) */
} AdjNamedGraph;

typedef struct
{
  const char *name;
  AdjValue value;
} AdjNamedValue;

typedef struct _AdjAnalysisResult AdjAnalysisResult;

/* The builder fills one of these and hands it out sealed. */
struct _AdjGraph
{
  gatomicrefcount refs;

  AdjArena *arena;       /* everything that nodes point to */
  GPtrArray *references; /* values that arguments and attributes hold, each counted once */
  AdjSymbols *symbols;
  AdjFindOpFunc find_op; /* (nullable) */
  GHashTable *own_ops;   /* (owned) (nullable): target → AdjOp that @find_op does not know */

  const char *name;
  AdjHeader header;
  const char *parameters;
  AdjThreadState thread_state;

  AdjNode *nodes; /* (owned) */
  guint n_nodes;
  AdjNamespace *names; /* of the nodes */

  AdjNodeId *inputs; /* placeholders */
  guint n_inputs;
  AdjNodeId output;
  AdjNodeId *last_uses;  /* per node */
  guint8 *roles;         /* AdjInputRole, per node */
  guint8 *after_tangent; /* per node */
  guint8 *backward;      /* per node */
  guint update;          /* index of the first node after autograd's; G_MAXUINT: not a whole step */

  AdjNamedGraph *subgraphs;
  guint n_subgraphs;
  AdjNamedValue *attrs;
  guint n_attrs;

  AdjAnalysisResult *analyses; /* (owned): added to while the graph is shared (graph-analysis.c) */
};

/* Derives users, last uses, roles and phases from the arguments of the nodes. */
void adj_graph_index (AdjGraph *graph);
void adj_graph_index_roles (AdjGraph *graph);
/* Sets `after_tangent` of the nodes that autograd made, and `update`, which is G_MAXUINT if the
 * graph is not a whole step. */
void adj_graph_find_whole_step (AdjGraph *graph);
/* Whether the metadata of @node says that autograd made it. */
gboolean adj_node_is_of_autograd (const AdjNode *node);
void adj_graph_free_analyses (AdjGraph *graph);

G_END_DECLS
