/* SPDX-License-Identifier: MIT */
/* Drops size inputs that a graph of nodes does not read. */

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"

static gboolean
is_item_of (const AdjNode *node, AdjNodeId list)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION && g_str_equal (node->target, GETITEM) &&
         node->args.n == 2 && node->args.items[0].kind == ADJ_VALUE_NODE &&
         node->args.items[0].node.index == list.index;
}

/* Removes the rules of unread sizes, which are not passed. */
static void
forget (const AdjGraph *graph, const AdjNode *sizes, GArray *rules)
{
  g_autofree guint *of_item = g_new0 (guint, rules->len + 1);
  guint n_items = 0;

  for (guint i = 0; i < rules->len; i++)
    if (g_array_index (rules, SizeRule, i).passed)
      of_item[n_items++] = i;
  for (guint i = 0; i < sizes->n_users; i++)
    {
      const AdjNode *item = adj_graph_get_node (graph, sizes->users[i].index);

      if (item->n_users == 0)
        g_array_index (rules, SizeRule, of_item[item->args.items[1].integer]).passed = FALSE;
    }
}

AdjGraph *
drop_sizes (AdjGraph *graph, GArray *rules, GError **error)
{
  const guint n = adj_graph_get_n_nodes (graph);
  AdjNodeId list;
  g_autoptr (AdjBuilder) builder = NULL;
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n + 1);
  gint64 next = 0;

  if (adj_graph_get_n_inputs (graph) < 2)
    return adj_graph_ref (graph);
  list = adj_graph_get_input (graph, 1);
  if (rules != NULL)
    forget (graph, adj_graph_get_node (graph, list.index), rules);
  builder = adj_builder_new_like (graph);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjValue args[2];

      if (!is_item_of (node, list))
        {
          adj_builder_copy (builder, graph, i, map);
          continue;
        }
      if (node->n_users == 0)
        continue;
      args[0] = ADJ_NODE (map[list.index]);
      args[1] = ADJ_INT (next++);
      map[i] = adj_builder_add (
          builder, &(AdjNodeSpec){ .name = node->name,
                                   .opcode = node->opcode,
                                   .target = node->target,
                                   .args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
                                   .val = node->val,
                                   .meta = &node->meta,
                                   .origin = { i } });
    }
  return adj_builder_seal (builder, error);
}
