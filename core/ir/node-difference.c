/* SPDX-License-Identifier: MIT */
/* Compares a node with its match in another graph. */

#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque-internal.h"
#include "ir/node-difference-private.h"

static gboolean
same_size (const NodePairs *pair, AdjSize a, AdjSize b)
{
  AdjSymbols *in_a = adj_graph_get_symbols (pair->a), *in_b = adj_graph_get_symbols (pair->b);
  g_autoptr (GString) text_a = NULL;
  g_autoptr (GString) text_b = NULL;

  if (in_a == in_b || adj_size_is_int (a) || adj_size_is_int (b))
    return adj_size_same (a, b);

  text_a = g_string_new (NULL);
  text_b = g_string_new (NULL);
  adj_size_print (in_a, a, text_a);
  adj_size_print (in_b, b, text_b);

  return g_string_equal (text_a, text_b);
}

gboolean
node_pairs_same_meta (const NodePairs *pair, const AdjTensorMeta *a, const AdjTensorMeta *b)
{
  gboolean with_strides = a->has_strides && b->has_strides;
  gboolean with_devices =
      a->device.type != ADJ_N_DEVICE_TYPES && b->device.type != ADJ_N_DEVICE_TYPES;

  if (a->dtype != b->dtype || a->shape.rank != b->shape.rank || a->layout != b->layout ||
      (with_devices && !adj_device_equal (a->device, b->device)))
    return FALSE;

  for (guint i = 0; i < a->shape.rank; i++)
    if (!same_size (pair, a->shape.size[i], b->shape.size[i]) ||
        (with_strides && !same_size (pair, a->shape.stride[i], b->shape.stride[i])))
      return FALSE;

  return TRUE;
}

static gboolean
same_data (AdjTensorData *a, AdjTensorData *b)
{
  return a == b ||
         (adj_tensor_meta_equal (adj_tensor_data_get_meta (a), adj_tensor_data_get_meta (b)) &&
          g_bytes_equal (adj_tensor_data_get_bytes (a), adj_tensor_data_get_bytes (b)));
}

gboolean
node_pairs_same_value (const NodePairs *pair, const AdjValue *a, const AdjValue *b)
{
  if (a->kind != b->kind)
    return FALSE;

  if (a->kind == ADJ_VALUE_NODE)
    return b->node.index < adj_graph_get_n_nodes (pair->b) &&
           pair->to_a[b->node.index] == a->node.index;
  if (a->kind == ADJ_VALUE_SIZE)
    return same_size (pair, a->size, b->size);
  if (a->kind == ADJ_VALUE_META)
    return node_pairs_same_meta (pair, a->meta, b->meta);
  if (a->kind == ADJ_VALUE_DATA)
    return same_data (a->data, b->data);
  if (a->kind == ADJ_VALUE_OPAQUE_OBJECT)
    return adj_opaque_is_like (a->object, b->object);
  if (a->kind == ADJ_VALUE_GRAPH)
    return adj_graph_equal_structure (a->graph, b->graph);
  if (!adj_value_is_container (a))
    return adj_value_equal (a, b);
  if (a->n != b->n)
    return FALSE;

  for (guint i = 0; i < a->n; i++)
    if (!node_pairs_same_value (pair, &a->items[i], &b->items[i]))
      return FALSE;

  return TRUE;
}

gboolean
node_pairs_same_annotation (const NodePairs *pair, const AdjValue *a, const AdjValue *b)
{
  return a->kind == ADJ_VALUE_NONE || b->kind == ADJ_VALUE_NONE ||
         node_pairs_same_value (pair, a, b);
}

gboolean
node_same_target (const AdjNode *a, const AdjNode *b)
{
  return a->opcode == b->opcode &&
         (a->opcode == ADJ_OPCODE_PLACEHOLDER || g_str_equal (a->target, b->target));
}

/* (nullable): the tag of @node if its absence would mean something else.  PyTorch 2.15 tags all
 * nodes of a joint graph, older ones only those of the backward. */
static const char *
get_telling_tag (const AdjNode *node)
{
  const char *tag = node->meta.partitioner_tag;
  gboolean is_input = node->opcode == ADJ_OPCODE_PLACEHOLDER;

  return tag == NULL || g_str_equal (tag, "is_forward") ||
                 (is_input && g_str_equal (tag, ADJ_IS_BACKWARD))
             ? NULL
             : tag;
}

const char *
node_pairs_find_difference (const NodePairs *pair, const AdjNode *a, const AdjNode *b)
{
  if (!node_same_target (a, b))
    return "target";
  if (!node_pairs_same_value (pair, &a->args, &b->args))
    return "args";
  if (!node_pairs_same_value (pair, &a->kwargs, &b->kwargs))
    return "kwargs";
  if (!node_pairs_same_annotation (pair, &a->val, &b->val))
    return "val";
  if (a->meta.recompute != b->meta.recompute)
    return "recompute";
  if (a->meta.ac_graph_id != b->meta.ac_graph_id)
    return "ac";
  if (g_strcmp0 (get_telling_tag (a), get_telling_tag (b)) != 0)
    return "tag";

  return NULL;
}
