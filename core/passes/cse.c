/* SPDX-License-Identifier: MIT */
/* cse: a call that repeats an earlier one becomes that one (partitioner §4.2).
 *
 * Nodes that may share memory with an output are left alone, so that outputs stay as distinct as
 * the program made them.  A write ends what came before it: a read after it is not a read before
 * it, even with equal arguments. */

#include "call/adj-op.h"
#include "passes/adj-pass.h"

typedef struct
{
  const AdjNode *node;
  const AdjNodeId *map; /* of the graph's nodes to those that stay */
  guint region;         /* writes before it */
  guint index;
} Call;

static guint
hash_value (const AdjValue *value, const AdjNodeId *map)
{
  guint hash = value->kind * 31 + value->n;

  if (value->kind == ADJ_VALUE_NODE)
    return hash * 31 + map[value->node.index].index;
  if (value->kind == ADJ_VALUE_INT)
    return hash * 31 + (guint) value->integer;
  if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      hash = hash * 31 + hash_value (&value->items[i], map);
  return hash;
}

static gboolean
equal_values (const AdjValue *a, const AdjValue *b, const AdjNodeId *map)
{
  if (a->kind != b->kind)
    return FALSE;
  if (a->kind == ADJ_VALUE_NODE)
    return map[a->node.index].index == map[b->node.index].index;
  if (!adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;
  for (guint i = 0; i < a->n; i++)
    if (!equal_values (&a->items[i], &b->items[i], map))
      return FALSE;
  return TRUE;
}

static guint
hash_call (gconstpointer key)
{
  const Call *call = key;

  return g_str_hash (call->node->target) ^ hash_value (&call->node->args, call->map) ^
         (hash_value (&call->node->kwargs, call->map) * 7) ^ (call->region * 131);
}

static gboolean
equal_calls (gconstpointer key_a, gconstpointer key_b)
{
  const Call *a = key_a;
  const Call *b = key_b;

  return a->region == b->region && g_str_equal (a->node->target, b->node->target) &&
         equal_values (&a->node->args, &b->node->args, a->map) &&
         equal_values (&a->node->kwargs, &b->node->kwargs, a->map);
}

static gboolean
is_pure (const AdjNode *node)
{
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return FALSE;
  if (node->op == NULL)
    return g_str_has_prefix (node->target, "operator.");
  return (node->op->flags & (ADJ_OP_EFFECT | ADJ_OP_RANDOM | ADJ_OP_NO_COMPARE)) == 0 &&
         !adj_schema_mutates (adj_op_get_schema (node->op));
}

static gboolean
is_write (const AdjNode *node)
{
  return node->op != NULL && adj_schema_mutates (adj_op_get_schema (node->op));
}

/* By node: the node that made the memory of its result.  Every item of several results has memory
 * of its own, unless all of them are views. */
static guint *
find_owners (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  guint *owners = g_new (guint, n);

  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const AdjNode *made_by = node;

      owners[i] = i;
      if (node->n_inputs == 0 || node->opcode == ADJ_OPCODE_OUTPUT)
        continue;
      if (g_str_equal (node->target, "operator.getitem"))
        made_by = adj_graph_get_node (graph, node->inputs[0].index);
      if (made_by->op != NULL && adj_schema_is_view (adj_op_get_schema (made_by->op)))
        owners[i] = owners[node->inputs[0].index];
    }
  return owners;
}

/* By owner: whether an output shares its memory. */
static gboolean *
mark_outputs (const AdjGraph *graph, const guint *owners)
{
  gboolean *marks = g_new0 (gboolean, adj_graph_get_n_nodes (graph));
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

  for (guint i = 0; i < output->n_inputs; i++)
    marks[owners[output->inputs[i].index]] = TRUE;
  return marks;
}

static AdjGraph *
cse_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder =
      adj_builder_new (adj_graph_get_name (in), adj_graph_get_symbols (in));
  g_autoptr (GHashTable) seen = g_hash_table_new (hash_call, equal_calls);
  g_autofree guint *owners = find_owners (in);
  g_autofree gboolean *returned = mark_outputs (in, owners);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autofree Call *calls = g_new (Call, n);
  guint region = 0;

  adj_builder_set_header (builder, adj_graph_get_header (in), adj_graph_get_parameters (in));
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (in, i);
      const Call *first = NULL;

      calls[i] = (Call){ node, map, region, i };
      region += is_write (node);
      if (is_pure (node) && !returned[owners[i]])
        {
          first = g_hash_table_lookup (seen, &calls[i]);
          if (first == NULL)
            g_hash_table_add (seen, &calls[i]);
        }
      if (first == NULL)
        adj_builder_copy (builder, in, i, map);
      else
        {
          map[i] = map[first->index];
          adj_pass_note (context, (AdjNodeId){ i }, map[i], "the same call as %s",
                         first->node->name);
        }
    }
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_cse = {
  .name = "cse",
  .summary = "Make equal calls once",
  .explain =
      "Two calls of one operator on the same arguments give the same value, so the second one "
      "goes and its users read the first.  Random operators, writes, uninitialised memory and "
      "what shares memory with an output stay as they are.\n\n"
      "Before: `t = x.t(); a = w @ t; t_1 = x.t(); b = v @ t_1`\n\n"
      "After: `t = x.t(); a = w @ t; b = v @ t`",
  .run = cse_run,
};
