/* SPDX-License-Identifier: MIT */
/* Sizes that a graph of nodes takes and nobody reads. */

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"

/* The sizes that are passed: %TRUE in @drops (by item) for those that go. */
static guint
mark (const AdjGraph *graph, const AdjNode *sizes, GArray *rules, gboolean *drops)
{
  g_autofree guint *of_item = g_new0 (guint, rules->len + 1);
  guint n_items = 0, n_dropped = 0;

  for (guint i = 0; i < rules->len; i++)
    if (g_array_index (rules, SizeRule, i).passed)
      of_item[n_items++] = i;
  for (guint i = 0; i < sizes->n_users; i++)
    {
      const AdjNode *item = adj_graph_get_node (graph, sizes->users[i].index);

      if (item->n_users > 0)
        continue;
      drops[item->args.items[1].integer] = TRUE;
      g_array_index (rules, SizeRule, of_item[item->args.items[1].integer]).passed = FALSE;
      n_dropped++;
    }
  return n_dropped;
}

AdjGraph *
drop_sizes (AdjGraph *graph, GArray *rules, GError **error)
{
  const guint n = adj_graph_get_n_nodes (graph);
  const AdjNodeId list = adj_graph_get_input (graph, 1);
  const AdjNode *sizes = adj_graph_get_node (graph, list.index);
  g_autofree gboolean *drops = g_new0 (gboolean, rules->len + 1);
  g_autoptr (AdjBuilder) builder = NULL;
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n + 1);
  gint64 next = 0;

  if (mark (graph, sizes, rules, drops) == 0)
    return adj_graph_ref (graph);
  builder = adj_builder_new_like (graph);
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const gboolean is_item = node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
                               g_str_equal (node->target, GETITEM) && node->args.n == 2 &&
                               node->args.items[0].kind == ADJ_VALUE_NODE &&
                               node->args.items[0].node.index == list.index;
      AdjValue args[2];

      if (!is_item)
        {
          adj_builder_copy (builder, graph, i, map);
          continue;
        }
      if (drops[node->args.items[1].integer])
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
