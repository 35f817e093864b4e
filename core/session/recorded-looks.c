/* SPDX-License-Identifier: MIT */
/* Annotates captured backwards of PyTorch 2.7 and later, which are written without metadata, from
 * their recorded call: it has the inputs, item by item, and the results of hooks. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "session/recorded-looks-private.h"

#define GETITEM "operator.getitem"

typedef struct
{
  const AdjGraph *graph;
  const AdjRecordedCall *call;
  AdjArena *arena;
} Looks;

/* Sets @out to the annotation of @value; %FALSE: nothing is known of it. */
static gboolean
describe (const Looks *self, const AdjValue *value, AdjValue *out)
{
  *out = ADJ_NONE;
  if (value->kind == ADJ_VALUE_DATA)
    *out = (AdjValue){ .kind = ADJ_VALUE_META, .meta = adj_tensor_data_get_meta (value->data) };
  else if (value->kind == ADJ_VALUE_INT || value->kind == ADJ_VALUE_BOOL ||
           value->kind == ADJ_VALUE_FLOAT)
    *out = *value;
  else if (value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE)
    {
      *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = value->n };
      out->items = adj_arena_new0 (self->arena, AdjValue, MAX (value->n, 1));
      for (guint i = 0; i < value->n; i++)
        describe (self, &value->items[i], &out->items[i]);
    }
  return out->kind != ADJ_VALUE_NONE;
}

/* (nullable): the item of an input list that @node takes. */
static const AdjValue *
find_item (const Looks *self, const AdjNode *node)
{
  const AdjValue *args = node->args.items;

  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION || !g_str_equal (node->target, GETITEM) ||
      node->args.n != 2 || args[0].kind != ADJ_VALUE_NODE || args[1].kind != ADJ_VALUE_INT)
    return NULL;
  for (guint i = 0; i < MIN (adj_graph_get_n_inputs (self->graph), self->call->n_inputs); i++)
    {
      const AdjValue *list = &self->call->inputs[i];

      if (adj_graph_get_input (self->graph, i).index == args[0].node.index &&
          adj_value_is_container (list) && args[1].integer >= 0 && args[1].integer < list->n)
        return &list->items[args[1].integer];
    }
  return NULL;
}

/* (nullable): the recorded value of @node. */
static const AdjValue *
find_value (const Looks *self, const AdjNode *node)
{
  const AdjValue *item = find_item (self, node);

  if (item != NULL)
    return item;
  return adj_value_find_member (adj_value_find_member (self->call->backward, "results"),
                                node->name);
}

/* Adds @node, number @index, annotated with @val, to a graph that has the same nodes. */
static void
add_annotated (AdjBuilder *builder, const AdjNode *node, guint index, AdjValue val)
{
  adj_builder_add (builder, &(AdjNodeSpec){ .name = node->name,
                                            .opcode = node->opcode,
                                            .op = node->op,
                                            .target = node->target,
                                            .args = node->args,
                                            .kwargs = node->kwargs,
                                            .val = val,
                                            .meta = &node->meta,
                                            .span = node->span,
                                            .origin = { index } });
}

/* (transfer full) (nullable) */
static AdjGraph *
annotate (const Looks *self, GError **error)
{
  const guint n = adj_graph_get_n_nodes (self->graph);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (self->graph);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n + 1);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      const AdjValue *value = find_value (self, node);
      AdjValue val;

      if (node->val.kind != ADJ_VALUE_NONE || value == NULL || !describe (self, value, &val))
        {
          adj_builder_copy (builder, self->graph, i, map);
          continue;
        }
      map[i] = (AdjNodeId){ i };
      add_annotated (builder, node, i, val);
    }
  return adj_builder_seal (builder, error);
}

AdjGraph *
recorded_looks_apply (AdjBundle *bundle, const AdjBundleGraph *graph, GError **error)
{
  const AdjRecordedCall *call = adj_bundle_find_call (bundle, graph, 0);
  Looks self = { graph->graph, call, NULL };
  AdjGraph *annotated;

  if (call == NULL || !g_str_has_prefix (graph->role, "compiled_autograd"))
    return adj_graph_ref (graph->graph);
  self.arena = adj_arena_new ();
  annotated = annotate (&self, error);
  adj_arena_free (self.arena);
  return annotated;
}
