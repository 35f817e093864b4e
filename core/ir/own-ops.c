/* SPDX-License-Identifier: MIT */
/* Operators of a graph that are in no table. */

#include "ir/adj-own-ops-internal.h"
#include "ir/builder-private.h"

static void
note (gpointer target, gpointer op, gpointer builder)
{
  adj_builder_note_op (builder, target, op);
}

void
adj_builder_note_op (AdjBuilder *builder, const char *target, const AdjOp *op)
{
  if (builder->own_ops == NULL)
    builder->own_ops = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_hash_table_insert (builder->own_ops, g_strdup (target), (gpointer) op);
}

void
adj_builder_note_ops_of (AdjBuilder *builder, const AdjGraph *graph)
{
  if (graph->own_ops != NULL)
    g_hash_table_foreach (graph->own_ops, note, builder);
}

const AdjOp *
adj_graph_find_own_op (const AdjGraph *graph, const char *target)
{
  return graph->own_ops != NULL ? g_hash_table_lookup (graph->own_ops, target) : NULL;
}

const AdjOp *
adj_graph_find_op (const AdjGraph *graph, const char *target)
{
  const AdjOp *own = adj_graph_find_own_op (graph, target);

  return own != NULL || graph->find_op == NULL ? own : graph->find_op (target);
}
