/* SPDX-License-Identifier: MIT */
/* AdjGraph once it is sealed: its nodes, users, names, inputs and outputs. */

#include "ir/adj-graph.h"

#include <string.h>

#include "ir/adj-graph-private.h"

static const char *const opcode_names[ADJ_N_OPCODES] = {
  [ADJ_OPCODE_PLACEHOLDER] = "placeholder",
  [ADJ_OPCODE_GET_ATTR] = "get_attr",
  [ADJ_OPCODE_CALL_FUNCTION] = "call_function",
  [ADJ_OPCODE_CALL_METHOD] = "call_method",
  [ADJ_OPCODE_CALL_MODULE] = "call_module",
  [ADJ_OPCODE_OUTPUT] = "output",
  [ADJ_OPCODE_RAW] = "raw",
};

static const char *const recompute_names[ADJ_N_RECOMPUTE] = {
  [ADJ_RECOMPUTE_NONE] = "",
  [ADJ_RECOMPUTE_MUST_SAVE] = "MUST_SAVE",
  [ADJ_RECOMPUTE_PREFER_SAVE] = "PREFER_SAVE",
  [ADJ_RECOMPUTE_MUST_CPU_OFFLOAD] = "MUST_CPU_OFFLOAD",
  [ADJ_RECOMPUTE_PREFER_CPU_OFFLOAD] = "PREFER_CPU_OFFLOAD",
  [ADJ_RECOMPUTE_MUST_RECOMPUTE] = "MUST_RECOMPUTE",
  [ADJ_RECOMPUTE_PREFER_RECOMPUTE] = "PREFER_RECOMPUTE",
};

static guint
find_name (const char *const *names, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (names[i], name))
      return i;

  return n;
}

const char *
adj_opcode_name (AdjOpcode opcode)
{
  return opcode < ADJ_N_OPCODES ? opcode_names[opcode] : "?";
}

AdjOpcode
adj_opcode_from_name (const char *name)
{
  return find_name (opcode_names, ADJ_N_OPCODES, name);
}

const char *
adj_recompute_name (AdjRecompute policy)
{
  return policy < ADJ_N_RECOMPUTE ? recompute_names[policy] : "";
}

AdjRecompute
adj_recompute_from_name (const char *name)
{
  return find_name (recompute_names, ADJ_N_RECOMPUTE, name);
}

/* -- Deriving what is not said ---- */

static void
index_users (AdjGraph *graph)
{
  guint n_uses = 0;
  AdjNodeId *users;

  for (guint i = 0; i < graph->n_nodes; i++)
    for (guint k = 0; k < graph->nodes[i].n_inputs; k++)
      {
        guint input = graph->nodes[i].inputs[k].index;

        if (input < graph->n_nodes)
          {
            graph->nodes[input].n_users++;
            n_uses++;
          }
      }

  users = adj_arena_new0 (graph->arena, AdjNodeId, MAX (n_uses, 1));
  for (guint i = 0; i < graph->n_nodes; i++)
    {
      graph->nodes[i].users = users;
      users += graph->nodes[i].n_users;
      graph->nodes[i].n_users = 0;
      graph->last_uses[i].index = i;
    }

  for (guint i = 0; i < graph->n_nodes; i++)
    for (guint k = 0; k < graph->nodes[i].n_inputs; k++)
      {
        guint input = graph->nodes[i].inputs[k].index;

        if (input < graph->n_nodes)
          {
            AdjNode *node = &graph->nodes[input];

            ((AdjNodeId *) node->users)[node->n_users++].index = i;
            graph->last_uses[input].index = i;
          }
      }
}

void
adj_graph_index (AdjGraph *graph)
{
  guint n = graph->n_nodes, n_inputs = 0;

  graph->last_uses = adj_arena_new0 (graph->arena, AdjNodeId, MAX (n, 1));
  graph->inputs = adj_arena_new0 (graph->arena, AdjNodeId, MAX (n, 1));
  graph->output = ADJ_NO_NODE;

  for (guint i = 0; i < n; i++)
    if (graph->nodes[i].opcode == ADJ_OPCODE_PLACEHOLDER)
      graph->inputs[n_inputs++].index = i;
    else if (graph->nodes[i].opcode == ADJ_OPCODE_OUTPUT)
      graph->output.index = i;
  graph->n_inputs = n_inputs;

  index_users (graph);
  adj_graph_index_roles (graph);
}

/* -- Lifetime ---- */

AdjGraph *
adj_graph_ref (AdjGraph *graph)
{
  g_atomic_ref_count_inc (&graph->refs);

  return graph;
}

void
adj_graph_unref (AdjGraph *graph)
{
  if (!g_atomic_ref_count_dec (&graph->refs))
    return;

  adj_graph_free_analyses (graph);
  for (guint i = 0; i < graph->n_subgraphs; i++)
    adj_graph_unref (graph->subgraphs[i].graph);
  g_clear_pointer (&graph->references, g_ptr_array_unref);
  g_clear_pointer (&graph->own_ops, g_hash_table_unref);
  adj_namespace_free (graph->names);
  adj_symbols_unref (graph->symbols);
  g_free (graph->nodes);
  adj_arena_free (graph->arena);
  g_free (graph);
}

/* -- Reading ---- */

const char *
adj_graph_get_name (const AdjGraph *graph)
{
  return graph->name;
}

AdjSymbols *
adj_graph_get_symbols (const AdjGraph *graph)
{
  return graph->symbols;
}

AdjHeader
adj_graph_get_header (const AdjGraph *graph)
{
  return graph->header;
}

const AdjThreadState *
adj_graph_get_thread_state (const AdjGraph *graph)
{
  return &graph->thread_state;
}

const char *
adj_graph_get_parameters (const AdjGraph *graph)
{
  return graph->parameters;
}

guint
adj_graph_get_n_nodes (const AdjGraph *graph)
{
  return graph->n_nodes;
}

const AdjNode *
adj_graph_get_node (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_nodes, NULL);

  return &graph->nodes[index];
}

AdjNodeId
adj_graph_find_node (const AdjGraph *graph, const char *name)
{
  return (AdjNodeId){ adj_namespace_find (graph->names, name) };
}

guint
adj_graph_get_n_inputs (const AdjGraph *graph)
{
  return graph->n_inputs;
}

AdjNodeId
adj_graph_get_input (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_inputs, ADJ_NO_NODE);

  return graph->inputs[index];
}

AdjNodeId
adj_graph_get_output (const AdjGraph *graph)
{
  return graph->output;
}

/* The node returned as flat output @index; the output node if that output is not a node. */
static AdjNodeId
find_returned (const AdjGraph *graph, guint index)
{
  const AdjValue *returned;

  if (!adj_node_id_is_valid (graph->output) ||
      adj_graph_get_node (graph, graph->output.index)->args.n == 0)
    return ADJ_NO_NODE;
  returned = &adj_graph_get_node (graph, graph->output.index)->args.items[0];
  if (returned->kind == ADJ_VALUE_TUPLE || returned->kind == ADJ_VALUE_LIST)
    returned = index < returned->n ? &returned->items[index] : NULL;
  return returned != NULL && returned->kind == ADJ_VALUE_NODE ? returned->node : graph->output;
}

/* The node that @blame names; ADJ_NO_NODE if it is about another graph. */
static AdjNodeId
find_blame (const AdjGraph *graph, const AdjBlame *blame)
{
  if (blame->kind == ADJ_BLAME_OUTPUT)
    return find_returned (graph, blame->index);
  if (blame->kind == ADJ_BLAME_INPUT)
    return blame->index < graph->n_inputs ? graph->inputs[blame->index] : ADJ_NO_NODE;
  return blame->index < graph->n_nodes &&
                 g_str_equal (adj_graph_get_node (graph, blame->index)->name, blame->name)
             ? (AdjNodeId){ blame->index }
             : ADJ_NO_NODE;
}

static gboolean
has_node (const GArray *nodes, AdjNodeId id)
{
  for (guint i = 0; i < nodes->len; i++)
    if (g_array_index (nodes, AdjNodeId, i).index == id.index)
      return TRUE;
  return FALSE;
}

AdjNodeId *
adj_graph_find_blamed (const AdjGraph *graph, const GError *error, guint *n)
{
  GArray *nodes = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  guint n_blames;
  const AdjBlame *blames = adj_error_get_blame (error, &n_blames);

  for (guint i = 0; i < n_blames; i++)
    {
      AdjNodeId id = find_blame (graph, &blames[i]);

      if (adj_node_id_is_valid (id) && !has_node (nodes, id))
        g_array_append_val (nodes, id);
    }
  *n = nodes->len;
  return (AdjNodeId *) (gpointer) g_array_free (nodes, FALSE);
}

guint
adj_graph_get_n_calls (const AdjGraph *graph)
{
  return graph->n_nodes - graph->n_inputs - (adj_node_id_is_valid (graph->output) ? 1 : 0);
}

AdjNodeId
adj_graph_get_last_use (const AdjGraph *graph, guint index)
{
  g_return_val_if_fail (index < graph->n_nodes, ADJ_NO_NODE);

  return graph->last_uses[index];
}

guint
adj_graph_get_n_subgraphs (const AdjGraph *graph)
{
  return graph->n_subgraphs;
}

AdjGraph *
adj_graph_get_subgraph (const AdjGraph *graph, guint index, const char **name)
{
  g_return_val_if_fail (index < graph->n_subgraphs, NULL);

  if (name)
    *name = graph->subgraphs[index].name;

  return graph->subgraphs[index].graph;
}

AdjGraph *
adj_graph_find_subgraph (const AdjGraph *graph, const char *name)
{
  for (guint i = 0; i < graph->n_subgraphs; i++)
    if (g_str_equal (graph->subgraphs[i].name, name))
      return graph->subgraphs[i].graph;

  return NULL;
}

guint
adj_graph_get_n_attrs (const AdjGraph *graph)
{
  return graph->n_attrs;
}

const AdjValue *
adj_graph_get_attr (const AdjGraph *graph, guint index, const char **name)
{
  g_return_val_if_fail (index < graph->n_attrs, NULL);

  if (name)
    *name = graph->attrs[index].name;

  return &graph->attrs[index].value;
}

const AdjValue *
adj_graph_find_attr (const AdjGraph *graph, const char *name)
{
  for (guint i = 0; i < graph->n_attrs; i++)
    if (g_str_equal (graph->attrs[i].name, name))
      return &graph->attrs[i].value;

  return NULL;
}
