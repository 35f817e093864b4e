/* SPDX-License-Identifier: MIT */

/* Nodes of another graph, moved to the symbols of the one that is being made. */

#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"
#include "ir/builder-private.h"

typedef struct
{
  AdjBuilder *builder;
  AdjSymbols *from; /* %NULL: the same table */
  const AdjNodeId *map;
  guint n;
  const GArray *storages; /* (nullable): of gint32: new numbers of storages */
} Copy;

static AdjSize
copy_size (const Copy *copy, AdjSize size)
{
  if (!copy->from || adj_size_is_int (size))
    return size;

  return adj_symbols_import (copy->builder->symbols, copy->from, size);
}

static gboolean
copy_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Copy *copy = data;

  *out = adj_value_copy (leaf);
  if (leaf->kind == ADJ_VALUE_NODE)
    out->node = leaf->node.index < copy->n ? copy->map[leaf->node.index] : ADJ_NO_NODE;
  else if (leaf->kind == ADJ_VALUE_SIZE)
    out->size = copy_size (copy, leaf->size);
  else if (leaf->kind == ADJ_VALUE_META && (copy->from || copy->storages))
    {
      AdjTensorMeta *meta = (AdjTensorMeta *) out->meta;

      if (copy->storages && meta->storage >= 0 && (guint) meta->storage < copy->storages->len)
        meta->storage = g_array_index (copy->storages, gint32, meta->storage);
      meta->shape.offset = copy_size (copy, meta->shape.offset);
      for (guint i = 0; i < meta->shape.rank; i++)
        {
          meta->shape.size[i] = copy_size (copy, meta->shape.size[i]);
          meta->shape.stride[i] = copy_size (copy, meta->shape.stride[i]);
        }
    }

  return TRUE;
}

/* Copies the attribute that a get_attr node reads. */
static void
copy_attribute (AdjBuilder *builder, const AdjGraph *from, const char *name)
{
  const AdjValue *value = adj_graph_find_attr (from, name);
  AdjGraph *subgraph = adj_graph_find_subgraph (from, name);

  for (guint i = 0; i < builder->attrs->len; i++)
    if (g_str_equal (g_array_index (builder->attrs, AdjNamedValue, i).name, name))
      value = NULL;
  for (guint i = 0; i < builder->subgraphs->len; i++)
    if (g_str_equal (g_array_index (builder->subgraphs, AdjNamedGraph, i).name, name))
      subgraph = NULL;

  if (value)
    adj_builder_add_attr (builder, name, value);
  if (subgraph)
    adj_builder_add_subgraph (builder, name, subgraph);
}

static AdjNodeId
copy_node (AdjBuilder *builder,
           const AdjGraph *from,
           guint index,
           AdjNodeId origin,
           AdjNodeId *map,
           const GArray *storages)
{
  const AdjNode *node = adj_graph_get_node (from, index);
  Copy copy = { builder, NULL, map, from->n_nodes, storages };
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  g_auto (AdjValue) val = ADJ_NONE;
  g_autofree char *name = NULL;
  AdjNodeSpec spec;

  if (from->symbols != builder->symbols)
    copy.from = from->symbols;

  adj_value_map (&node->args, copy_leaf, &copy, &args);
  adj_value_map (&node->kwargs, copy_leaf, &copy, &kwargs);
  adj_value_map (&node->val, copy_leaf, &copy, &val);
  name = adj_builder_unique_name (builder, node->name);
  if (node->opcode == ADJ_OPCODE_GET_ATTR)
    copy_attribute (builder, from, node->target);

  spec = (AdjNodeSpec){
    .name = name,
    .opcode = node->opcode,
    .op = node->op,
    .target = node->target,
    .args = args,
    .kwargs = kwargs,
    .val = val,
    .meta = &node->meta,
    .span = node->span,
    .origin = origin,
  };
  map[index] = adj_builder_add (builder, &spec);

  return map[index];
}

AdjNodeId
adj_builder_copy (AdjBuilder *builder, const AdjGraph *from, guint index, AdjNodeId *map)
{
  return copy_node (builder, from, index, (AdjNodeId){ index }, map, NULL);
}

AdjNodeId
adj_builder_copy_renumbered (
    AdjBuilder *builder, const AdjGraph *from, guint index, AdjNodeId *map, const GArray *storages)
{
  return copy_node (builder, from, index, (AdjNodeId){ index }, map, storages);
}

AdjNodeId
adj_builder_copy_with_origin (AdjBuilder *builder,
                              const AdjGraph *from,
                              guint index,
                              AdjNodeId *map)
{
  return copy_node (builder, from, index, adj_graph_get_node (from, index)->origin, map, NULL);
}
