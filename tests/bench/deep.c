/* SPDX-License-Identifier: MIT */

/* GPT-2 of any depth: the first block of the capture repeated, each copy with its own
 * parameters; no block is checkpointed. */

#include "bench/deep.h"

#include <string.h>

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "support/adj-test.h"

#define FIRST_BLOCK "h.0."
#define SECOND_BLOCK "h.1."

static gboolean
is_of (const AdjNode *node, const char *block)
{
  return node->meta.parameter != NULL && g_str_has_prefix (node->meta.parameter, block);
}

/* Adds a placeholder for the parameter of block @layer that corresponds to @node. */
static AdjNodeId
add_input (AdjBuilder *builder, const AdjNode *node, guint layer)
{
  g_autofree char *name = adj_builder_unique_name (builder, node->name);
  g_autofree char *parameter = NULL;
  AdjTensorMeta tensor = *node->val.meta;
  AdjNodeMeta meta = node->meta;
  AdjNodeSpec spec = { .name = name,
                       .opcode = ADJ_OPCODE_PLACEHOLDER,
                       .target = name,
                       .val = { .kind = ADJ_VALUE_META, .meta = &tensor },
                       .meta = &meta,
                       .origin = ADJ_NO_NODE };

  tensor.storage = (gint32) adj_builder_get_n_nodes (builder);
  if (is_of (node, FIRST_BLOCK))
    meta.parameter = parameter =
        g_strdup_printf ("h.%u.%s", layer, node->meta.parameter + strlen (FIRST_BLOCK));
  return adj_builder_add (builder, &spec);
}

static gboolean
map_node (const AdjValue *leaf, AdjValue *out, gpointer map)
{
  *out = adj_value_copy (leaf);
  if (leaf->kind == ADJ_VALUE_NODE)
    out->node = ((const AdjNodeId *) map)[leaf->node.index];
  return TRUE;
}

/* Adds a call of the first block as a call of block @layer, in the modules of that block. */
static void
add_call (AdjBuilder *builder, const AdjGraph *graph, guint index, AdjNodeId *map, guint layer)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  g_autofree char *name = adj_builder_unique_name (builder, node->name);
  g_autofree AdjModule *modules =
      g_memdup2 (node->meta.modules, sizeof (AdjModule) * node->meta.n_modules);
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  AdjNodeMeta meta = node->meta;
  AdjNodeSpec spec = { .name = name,
                       .opcode = node->opcode,
                       .op = node->op,
                       .target = node->target,
                       .val = node->val,
                       .meta = &meta,
                       .span = node->span,
                       .origin = { index } };

  for (guint i = 0; i < meta.n_modules; i++)
    if (g_str_has_prefix (modules[i].path, "h.0"))
      {
        modules[i].path = g_strdup_printf ("h.%u%s", layer, modules[i].path + strlen ("h.0"));
        g_ptr_array_add (paths, (gpointer) modules[i].path);
      }
  meta.modules = modules;
  adj_value_map (&node->args, map_node, map, &args);
  adj_value_map (&node->kwargs, map_node, map, &kwargs);
  spec.args = args;
  spec.kwargs = kwargs;
  map[index] = adj_builder_add (builder, &spec);
}

/* Returns the first call that reads a tensor of @block. */
static guint
find_reader (const AdjGraph *graph, const char *block)
{
  for (guint i = adj_graph_get_n_inputs (graph); i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < node->n_inputs; k++)
        if (is_of (adj_graph_get_node (graph, node->inputs[k].index), block))
          return i;
    }
  g_error ("no call reads %s", block);
}

/* Inserts @n_layers copies of the first block between the nodes before it and the nodes after
 * the call of the second block. */
static AdjGraph *
deepen (const AdjGraph *graph, guint n_layers)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBuilder) builder =
      adj_builder_new ("Deep", adj_graph_get_symbols (graph), adj_op_find);
  guint n = adj_graph_get_n_nodes (graph), n_inputs = adj_graph_get_n_inputs (graph);
  guint first = find_reader (graph, FIRST_BLOCK), call = find_reader (graph, SECOND_BLOCK);
  guint end = call - 1; /* the get_attr of the called graph */
  g_autofree AdjNodeId *map = g_new (AdjNodeId, n);
  g_autofree AdjNodeId *inputs = g_new (AdjNodeId, n_layers * n_inputs);
  AdjGraph *deep;

  for (guint i = 0; i < n_inputs; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean is_block = is_of (node, FIRST_BLOCK);

      for (guint layer = 0; layer < (is_block ? n_layers : 1); layer++)
        if (!is_of (node, SECOND_BLOCK))
          map[i] = inputs[layer * n_inputs + i] = add_input (builder, node, layer);
    }
  for (guint i = n_inputs; i < first; i++)
    adj_builder_copy (builder, graph, i, map);
  for (guint layer = 0; layer < n_layers; layer++)
    {
      for (guint i = 0; i < n_inputs; i++)
        if (is_of (adj_graph_get_node (graph, i), FIRST_BLOCK))
          map[i] = inputs[layer * n_inputs + i];
      for (guint i = first; i < end; i++)
        if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_GET_ATTR)
          adj_builder_copy (builder, graph, i, map);
        else
          add_call (builder, graph, i, map, layer);
      map[first - 1] = map[end - 1]; /* the output of a block is the input of the next */
    }
  map[call + 1] = map[end - 1]; /* the result of the call of the second block */
  for (guint i = call + 2; i < n; i++)
    adj_builder_copy (builder, graph, i, map);
  deep = adj_builder_seal (builder, &error);
  if (deep == NULL)
    g_error ("%s", error->message);
  return deep;
}

AdjGraph *
deep_gpt2_new (guint n_layers)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = adj_test_data_path ("graphs/gpt2.adjoint");
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  const AdjBundleGraph *dynamo = NULL;

  if (bundle != NULL)
    dynamo = adj_bundle_find_graph (bundle, "dynamo", &error);
  if (dynamo == NULL)
    g_error ("%s", error->message);
  return deepen (dynamo->graph, n_layers);
}
