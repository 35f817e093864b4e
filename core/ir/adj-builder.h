/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-diag.h"
#include "ir/adj-header.h"
#include "ir/adj-opcode.h"
#include "ir/adj-target.h"
#include "ir/adj-thread-state.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The only way to make a graph.  Everything given to it is copied. */
typedef struct _AdjBuilder AdjBuilder;

/* Bounds of every graph. */
#define ADJ_MAX_NODES (1u << 22)
#define ADJ_MAX_DEPTH 64 /* nesting of argument values and of subgraphs */

typedef struct
{
  const char *name; /* used as it is; %NULL: made from the target, unique */
  AdjOpcode opcode;
  gboolean
      meta_is_shared; /* @meta is of a node of a graph that is shared (adj-builder-internal.h) */
  gboolean is_taken; /* @name was handed out by the builder; @target, @args, @kwargs and @val are in
                        its arena, and the graph's from now on; @op is what @target names */
  const AdjOp *op;   /* (nullable): what @target names; %NULL: find_op is asked */
  const char *target;
  AdjValue args;           /* (unowned) TUPLE, or NONE for empty */
  AdjValue kwargs;         /* (unowned) DICT, or NONE for empty */
  AdjValue val;            /* (unowned) */
  const AdjNodeMeta *meta; /* (nullable): frames may be left out, they are made from stack_trace */
  AdjSpan span;
  AdjNodeId origin; /* ADJ_NO_NODE when it has none: set it, 0 is a node */
} AdjNodeSpec;

#define ADJ_NODE_META_INIT                                                                         \
  {                                                                                                \
    .seq_nr = -1, .ac_graph_id = -1                                                                \
  }

/**
 * adj_builder_new:
 * @name: class name of the graph
 * @symbols: (nullable) (transfer none): table that sizes refer to; %NULL makes an empty one
 * @find_op: (nullable): resolves the targets of calls; %NULL leaves all of them opaque
 *
 * Returns: (transfer full)
 */
ADJ_PUBLIC AdjBuilder *
adj_builder_new (const char *name, AdjSymbols *symbols, AdjFindOpFunc find_op);
/* (transfer full): an empty builder with the name, symbols, operators, header and thread settings
 * of @graph. */
ADJ_PUBLIC AdjBuilder *adj_builder_new_like (const AdjGraph *graph);
ADJ_PUBLIC void adj_builder_free (AdjBuilder *builder); /* also one that was sealed */

ADJ_PUBLIC AdjSymbols *adj_builder_get_symbols (AdjBuilder *builder); /* (transfer none) */
/* How the text of the graph begins and ends; @parameters: (nullable): of a PYTREE header. */
ADJ_PUBLIC void
adj_builder_set_header (AdjBuilder *builder, AdjHeader header, const char *parameters);

/* Appends a node; gives its id.  Mistakes (unknown node, duplicate name, too many) are reported by
 * seal. */
ADJ_PUBLIC AdjNodeId adj_builder_add (AdjBuilder *builder, const AdjNodeSpec *spec);

/* The short forms; @args as items of the tuple of AdjNodeSpec. */
ADJ_PUBLIC AdjNodeId adj_builder_placeholder (AdjBuilder *builder,
                                              const char *name,
                                              const AdjTensorMeta *meta);
ADJ_PUBLIC AdjNodeId adj_builder_call (AdjBuilder *builder,
                                       const char *target,
                                       const AdjValue *args,
                                       guint n_args);
ADJ_PUBLIC AdjNodeId adj_builder_output (AdjBuilder *builder, const AdjValue *value);

/* Copies node @index of @from; @map[i] is the new id of node i of @from, and is set for @index.
 * Name, target and meta stay (the name made unique), origin becomes @index.
 * Sizes move to the builder's symbols; what a get_attr node reads comes along. */
ADJ_PUBLIC AdjNodeId adj_builder_copy (AdjBuilder *builder,
                                       const AdjGraph *from,
                                       guint index,
                                       AdjNodeId *map);

/* Adds what get_attr nodes read as @name: a graph (a reference is taken) or a value (copied). */
ADJ_PUBLIC void adj_builder_add_subgraph (AdjBuilder *builder, const char *name, AdjGraph *graph);
ADJ_PUBLIC void adj_builder_add_attr (AdjBuilder *builder, const char *name, const AdjValue *value);

/* The node of that name, or ADJ_NO_NODE. */
ADJ_PUBLIC AdjNodeId adj_builder_find (AdjBuilder *builder, const char *name);
ADJ_PUBLIC guint adj_builder_get_n_nodes (AdjBuilder *builder); /* added so far */

/* (transfer full): @candidate by the naming rule of ir/SPEC.md §2.2; reserves the name. */
ADJ_PUBLIC char *adj_builder_unique_name (AdjBuilder *builder, const char *candidate);

/**
 * adj_builder_seal:
 *
 * Verifies and freezes.  @builder is empty afterwards and can only be freed.
 *
 * Returns: (transfer full) (nullable): %NULL with ADJ_ERROR_VERIFY or ADJ_ERROR_LIMIT naming the
 *   node and the rule
 */
ADJ_PUBLIC AdjGraph *adj_builder_seal (AdjBuilder *builder, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (AdjBuilder, adj_builder_free)

G_END_DECLS
