/* SPDX-License-Identifier: MIT */
/* The forward part of a joint graph, as a graph of its own. */

#include "passes/adj-forward-part.h"

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"

static gboolean
find_late (const AdjValue *leaf, gpointer joint)
{
  return leaf->kind != ADJ_VALUE_NODE || !adj_graph_depends_on_tangent (joint, leaf->node.index);
}

static gboolean
map_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const AdjNodeId *ids = data;

  *out = leaf->kind == ADJ_VALUE_NODE ? ADJ_NODE (ids[leaf->node.index]) : adj_value_copy (leaf);
  return TRUE;
}

/* Returns the results before the first one that depends on a tangent, without None gradients at
 * their end. */
static void
return_first (AdjBuilder *builder, const AdjGraph *joint, AdjNodeId *ids)
{
  AdjValue first = adj_graph_get_node (joint, adj_graph_get_output (joint).index)->args.items[0];
  g_auto (AdjValue) returned = ADJ_NONE;
  guint n = 0;

  while (n < first.n && adj_value_foreach (&first.items[n], find_late, (gpointer) joint))
    n++;
  while (n > 0 && first.items[n - 1].kind == ADJ_VALUE_NONE)
    n--;
  first.n = n;
  adj_value_map (&first, map_leaf, ids, &returned);
  adj_builder_output (builder, &returned);
}

AdjGraph *
adj_graph_take_forward_part (const AdjGraph *joint, GError **error)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (joint);
  guint n = adj_graph_get_n_nodes (joint), output = adj_graph_get_output (joint).index;
  g_autofree AdjNodeId *ids = g_new0 (AdjNodeId, n);

  for (guint i = 0; i < n; i++)
    if (i != output && !adj_graph_depends_on_tangent (joint, i))
      adj_builder_copy (builder, joint, i, ids);
  return_first (builder, joint, ids);
  return adj_builder_seal (builder, error);
}
