/* SPDX-License-Identifier: MIT */
/* Objects, calls of their methods, and the tokens that order the calls, in a graph with effects. */

#include "ir/adj-graph.h"
#include "layout/node-roles-private.h"
#include "objects/adj-object-text.h"

gboolean
node_roles_orders_effects (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         g_str_equal (node->target, "torch.ops.higher_order.with_effects");
}

/* The token that @node takes, or G_MAXUINT32. */
static guint32
find_taken (const AdjNode *node)
{
  return node_roles_orders_effects (node) && node->args.n > 0 &&
                 node->args.items[0].kind == ADJ_VALUE_NODE
             ? node->args.items[0].node.index
             : G_MAXUINT32;
}

static gboolean
gives_token (const AdjGraph *graph, const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
         node_roles_packet_is (node->target, "getitem") && node->args.n == 2 &&
         node->args.items[0].kind == ADJ_VALUE_NODE && node->args.items[1].kind == ADJ_VALUE_INT &&
         node->args.items[1].integer == 0 &&
         node_roles_orders_effects (adj_graph_get_node (graph, node->args.items[0].node.index));
}

void
node_roles_find_objects (AdjNodeRoles *self)
{
  for (guint32 i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      guint32 taken = find_taken (node);
      AdjObjectCallInfo call;

      self->entries[i].object =
          node->val.kind == ADJ_VALUE_OPAQUE_OBJECT || adj_object_call_find (self->graph, i, &call);
      self->entries[i].token |= gives_token (self->graph, node);
      if (taken != G_MAXUINT32)
        self->entries[taken].token = TRUE;
    }
}
