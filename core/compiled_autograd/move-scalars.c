/* SPDX-License-Identifier: MIT */
/* Moves CPU scalars to the GPU if other inputs are there, so that the graph needs no
 * synchronisation (compiled_autograd/SPEC.md §6.4). */

#include "compiled_autograd/compiled-private.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"

/* Metadata of an item of the inputs; %NULL: no tensor, or unknown. */
static const AdjTensorMeta *
get_meta (const AdjNode *item)
{
  return item->val.kind == ADJ_VALUE_META ? item->val.meta : NULL;
}

/* Whether only operators read @item: others may need the number on the CPU. */
static gboolean
is_read_by_operators (const AdjGraph *graph, const AdjNode *item)
{
  for (guint i = 0; i < item->n_users; i++)
    if (adj_graph_get_node (graph, item->users[i].index)->op == NULL)
      return FALSE;
  return TRUE;
}

/* (transfer full): items of the first placeholder that can be moved; empty without an input on the
 * GPU, @device (out). */
static GArray *
find_scalars (const AdjGraph *graph, AdjDevice *device)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  const AdjNode *inputs = adj_graph_get_node (graph, adj_graph_get_input (graph, 0).index);
  gboolean has_gpu = FALSE;

  for (guint i = 0; i < inputs->n_users; i++)
    {
      const AdjNode *item = adj_graph_get_node (graph, inputs->users[i].index);
      const AdjTensorMeta *meta = get_meta (item);

      if (meta != NULL && meta->device.type == ADJ_DEVICE_CUDA)
        {
          *device = meta->device;
          has_gpu = TRUE;
        }
      else if (meta != NULL && meta->device.type == ADJ_DEVICE_CPU && meta->shape.rank == 0 &&
               is_read_by_operators (graph, item))
        g_array_append_val (found, inputs->users[i]);
    }
  if (!has_gpu)
    g_array_set_size (found, 0);
  return found;
}

/* (transfer full) (nullable): @graph with @items on @device. */
static AdjGraph *
change_device (AdjGraph *graph, const GArray *items, AdjDevice device, GError **error)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (graph);
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n + 1);
  guint next = 0;

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjValue args[2];
      AdjTensorMeta meta;

      if (next == items->len || g_array_index (items, AdjNodeId, next).index != i)
        {
          adj_builder_copy (builder, graph, i, map);
          continue;
        }
      next++;
      meta = *node->val.meta;
      meta.device = device;
      args[0] = ADJ_NODE (map[node->args.items[0].node.index]);
      args[1] = node->args.items[1];
      map[i] = adj_builder_add (
          builder, &(AdjNodeSpec){ .name = node->name,
                                   .opcode = node->opcode,
                                   .op = node->op,
                                   .target = node->target,
                                   .args = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args },
                                   .val = { .kind = ADJ_VALUE_META, .meta = &meta },
                                   .meta = &node->meta,
                                   .origin = { i } });
    }
  return adj_builder_seal (builder, error);
}

AdjGraph *
move_scalars (AdjGraph *graph, GArray *moved, GError **error)
{
  g_autoptr (GArray) items = NULL;
  AdjDevice device = ADJ_CPU;

  items = find_scalars (graph, &device);
  for (guint i = 0; i < items->len; i++)
    {
      const AdjNode *item = adj_graph_get_node (graph, g_array_index (items, AdjNodeId, i).index);
      guint index = (guint) item->args.items[1].integer;

      g_array_append_val (moved, index);
    }
  return items->len > 0 ? change_device (graph, items, device, error) : adj_graph_ref (graph);
}
