/* SPDX-License-Identifier: MIT */
/* Values of a joint graph that are not those of its parts. */

#include "call/adj-op.h"
#include "interpreter/adj-numeric.h"
#include "ir/adj-graph.h"
#include "session/stale-values-private.h"
#include "tensor/adj-late-bytes-internal.h"

/* (nullable): the joint graph's call that @call is a part of. */
static const AdjRecordedCall *
find_whole (const AdjBundle *bundle, const AdjRecordedCall *call)
{
  const AdjRegion *region = adj_bundle_find_region (bundle, call->graph);

  for (guint i = 0; region != NULL && i < region->n_graphs; i++)
    if (g_str_equal (region->graphs[i]->role, "joint"))
      return adj_bundle_find_call (bundle, region->graphs[i], call->n);
  return NULL;
}

/* (transfer full): name of each placeholder → the tensor that it got. */
static GHashTable *
list_inputs (const AdjRecordedCall *call)
{
  AdjGraph *graph = call->graph->graph;
  GHashTable *inputs = g_hash_table_new (g_str_hash, g_str_equal);
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph) && n < call->n_inputs; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (node->opcode != ADJ_OPCODE_PLACEHOLDER)
        continue;
      if (call->inputs[n].kind == ADJ_VALUE_DATA)
        g_hash_table_insert (inputs, (gpointer) node->name, call->inputs[n].data);
      n++;
    }
  return inputs;
}

/* %FALSE: one of them could not be read. */
static gboolean
compare_inputs (const AdjTensorData *a, const AdjTensorData *b, gboolean *same, GError **error)
{
  AdjTensorDifference difference;

  *same = a == NULL || b == NULL || a == b;
  if (*same)
    return TRUE;
  if (!adj_tensor_data_fetch (a, error) || !adj_tensor_data_fetch (b, error))
    return FALSE;
  adj_tensor_compare (a, b, &difference);
  *same = difference.same_shape && difference.max_abs == 0 && difference.n_class_mismatch == 0;
  return TRUE;
}

/* Those that get another input in @call than in @whole. */
static gboolean
mark_inputs (const AdjRecordedCall *call,
             const AdjRecordedCall *whole,
             guint8 *stale,
             GError **error)
{
  AdjGraph *graph = call->graph->graph;
  g_autoptr (GHashTable) ours = list_inputs (call);
  g_autoptr (GHashTable) theirs = list_inputs (whole);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean same = TRUE;

      if (node->opcode == ADJ_OPCODE_PLACEHOLDER &&
          !compare_inputs (g_hash_table_lookup (ours, node->name),
                           g_hash_table_lookup (theirs, node->name), &same, error))
        return FALSE;
      stale[i] = !same;
    }
  return TRUE;
}

/* What draws in backward draws from where the generator stands then. */
static void
mark_draws (const AdjRecordedCall *call, guint8 *stale)
{
  AdjGraph *graph = call->graph->graph;

  if (!g_str_equal (call->graph->role, "backward"))
    return;
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      stale[i] = stale[i] || (node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0);
    }
}

/* The name of what @node takes one of several results of. */
static const char *
name_of_giver (const AdjGraph *graph, const AdjNode *node)
{
  return node->n_inputs > 0 ? adj_graph_get_node (graph, node->inputs[0].index)->name : "";
}

/* Whether the node of this name in @whole is another: a partitioner that wraps calls which draw
 * names their results again. */
static gboolean
is_another (const AdjGraph *graph, const AdjNode *node, const AdjGraph *whole)
{
  AdjNodeId id = adj_graph_find_node (whole, node->name);
  const AdjNode *other;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION || !adj_node_id_is_valid (id))
    return FALSE;
  other = adj_graph_get_node (whole, id.index);
  if (other->opcode != node->opcode || !g_str_equal (other->target, node->target))
    return TRUE;
  return g_str_equal (node->target, "operator.getitem") &&
         !g_str_equal (name_of_giver (graph, node), name_of_giver (whole, other));
}

gboolean
session_find_stale_values (const AdjBundle *bundle,
                           const AdjRecordedCall *call,
                           guint8 **stale,
                           GError **error)
{
  const AdjRecordedCall *whole = call->origin == NULL ? find_whole (bundle, call) : NULL;
  AdjGraph *graph = call->graph->graph;
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint8 *found = NULL;

  *stale = NULL;
  if (whole == NULL || whole == call)
    return TRUE;
  found = g_new0 (guint8, n);
  if (!mark_inputs (call, whole, found, error))
    return FALSE;
  mark_draws (call, found);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < node->n_inputs; k++)
        found[i] = found[i] || found[node->inputs[k].index];
    }
  for (guint i = 0; i < n; i++)
    found[i] = found[i] || is_another (graph, adj_graph_get_node (graph, i), whole->graph->graph);
  *stale = g_steal_pointer (&found);
  return TRUE;
}
