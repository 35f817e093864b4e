/* SPDX-License-Identifier: MIT */
/* Composes a forward and a backward graph into one graph that computes both. */

#include "passes/adj-compose.h"

#include "analysis/adj-blocks.h"
#include "ir/adj-builder-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "ir/adj-own-ops-internal.h"
#include "ops/adj-op-table.h"

#define MAX_STORAGES 10000000 /* storage numbers above are not contiguous; they are not mapped */

typedef struct
{
  AdjBuilder *builder;
  AdjGraph *forward, *backward;
  AdjNodeId *forward_ids, *backward_ids; /* node of the part → node of the composed graph */
  guint num_fwd_outputs;
  GArray *storages; /* of gint32: by storage number of backward → number in the composed graph */
} Composing;

static const AdjValue *
returned (const AdjGraph *graph)
{
  return &adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0];
}

/* -- storages: each graph numbers its own -- */

static gint32
get_storage (const AdjGraph *graph, guint index)
{
  const AdjValue *val = &adj_graph_get_node (graph, index)->val;

  return val->kind == ADJ_VALUE_META ? val->meta->storage : -1;
}

static gboolean
find_highest (const AdjValue *leaf, gpointer data)
{
  gint32 *highest = data;

  if (leaf->kind == ADJ_VALUE_META)
    *highest = MAX (*highest, leaf->meta->storage);
  return TRUE;
}

static gint32
get_highest_storage (const AdjGraph *graph)
{
  gint32 highest = -1;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    adj_value_foreach (&adj_graph_get_node (graph, i)->val, find_highest, &highest);
  return highest;
}

/* Gives storages of backward numbers that forward does not use. */
static void
number_storages (Composing *self)
{
  gint32 n_before = get_highest_storage (self->forward) + 1;
  gint32 n = get_highest_storage (self->backward) + 1;

  for (gint32 i = 0; i < n && n_before + (gint64) n < MAX_STORAGES; i++)
    {
      gint32 number = n_before + i;

      g_array_append_val (self->storages, number);
    }
}

/* Maps the storage of @placeholder of backward to that of @value of forward. */
static void
share_storage (Composing *self, guint placeholder, guint value)
{
  gint32 taken = get_storage (self->backward, placeholder);
  gint32 saved = get_storage (self->forward, value);

  if (taken >= 0 && (guint) taken < self->storages->len && saved >= 0)
    g_array_index (self->storages, gint32, taken) = saved;
}

/* -- nodes -- */

static void
copy_placeholders (Composing *self)
{
  for (guint i = 0; i < adj_graph_get_n_inputs (self->forward); i++)
    adj_builder_copy (self->builder, self->forward, adj_graph_get_input (self->forward, i).index,
                      self->forward_ids);
  for (guint i = 0; i < adj_graph_get_n_inputs (self->backward); i++)
    {
      AdjNodeId id = adj_graph_get_input (self->backward, i);

      if (adj_graph_get_input_role (self->backward, id.index) == ADJ_INPUT_TANGENT)
        adj_builder_copy_renumbered (self->builder, self->backward, id.index, self->backward_ids,
                                     self->storages);
    }
}

static void
copy_calls (AdjBuilder *builder, const AdjGraph *graph, AdjNodeId *ids, const GArray *storages)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      AdjOpcode opcode = adj_graph_get_node (graph, i)->opcode;

      if (opcode != ADJ_OPCODE_PLACEHOLDER && opcode != ADJ_OPCODE_OUTPUT)
        adj_builder_copy_renumbered (builder, graph, i, ids, storages);
    }
}

/* The placeholders of backward that take saved values: sizes first, then tensors. */
static GArray *
saved_placeholders (const AdjGraph *backward, guint *n_sizes)
{
  GArray *saved = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));

  *n_sizes = 0;
  for (guint i = 0; i < adj_graph_get_n_inputs (backward); i++)
    {
      AdjNodeId id = adj_graph_get_input (backward, i);
      const AdjNode *node = adj_graph_get_node (backward, id.index);

      if (adj_graph_get_input_role (backward, id.index) == ADJ_INPUT_TANGENT)
        continue;
      if (node->val.kind == ADJ_VALUE_SIZE || node->val.kind == ADJ_VALUE_INT)
        (*n_sizes)++;
      g_array_append_val (saved, id);
    }
  return saved;
}

/* The forward output for placeholder @index of the @n_saved ones. */
static const AdjValue *
saved_value (
    const AdjGraph *forward, guint num_fwd_outputs, guint n_saved, guint n_sizes, guint index)
{
  guint from = index < n_sizes ? n_saved - n_sizes + index : index - n_sizes;

  return &returned (forward)->items[num_fwd_outputs + from];
}

static gboolean
join (Composing *self, GError **error)
{
  const AdjValue *outputs = returned (self->forward);
  guint n_sizes, n_saved = outputs->n - MIN (outputs->n, self->num_fwd_outputs);
  g_autoptr (GArray) placeholders = saved_placeholders (self->backward, &n_sizes);

  if (!adj_value_is_container (outputs) || placeholders->len != n_saved)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
                   "the forward graph saves %u values, the backward graph takes %u", n_saved,
                   placeholders->len);
      return FALSE;
    }
  for (guint i = 0; i < n_saved; i++)
    {
      AdjNodeId placeholder = g_array_index (placeholders, AdjNodeId, i);
      const AdjValue *value =
          saved_value (self->forward, self->num_fwd_outputs, n_saved, n_sizes, i);

      if (value->kind != ADJ_VALUE_NODE)
        {
          g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
                       "saved value %u of the forward graph is no node",
                       (guint) (value - outputs->items) - self->num_fwd_outputs);
          return FALSE;
        }
      self->backward_ids[placeholder.index] = self->forward_ids[value->node.index];
      share_storage (self, placeholder.index, value->node.index);
    }
  return TRUE;
}

AdjNodeId
adj_compose_find_saved (const AdjGraph *forward,
                        const AdjGraph *backward,
                        guint num_fwd_outputs,
                        AdjNodeId placeholder)
{
  const AdjValue *outputs = returned (forward);
  guint n_sizes;
  g_autoptr (GArray) placeholders = saved_placeholders (backward, &n_sizes);

  if (!adj_value_is_container (outputs) || outputs->n < num_fwd_outputs ||
      outputs->n - num_fwd_outputs != placeholders->len)
    return ADJ_NO_NODE;
  for (guint i = 0; i < placeholders->len; i++)
    if (g_array_index (placeholders, AdjNodeId, i).index == placeholder.index)
      {
        const AdjValue *value =
            saved_value (forward, num_fwd_outputs, placeholders->len, n_sizes, i);

        return value->kind == ADJ_VALUE_NODE ? value->node : ADJ_NO_NODE;
      }
  return ADJ_NO_NODE;
}

static gboolean
map_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const AdjNodeId *ids = data;

  *out = leaf->kind == ADJ_VALUE_NODE ? ADJ_NODE (ids[leaf->node.index]) : adj_value_copy (leaf);
  return TRUE;
}

static void
return_both (Composing *self)
{
  g_auto (AdjValue) forward = ADJ_NONE;
  g_auto (AdjValue) backward = ADJ_NONE;
  g_autofree AdjValue *items = NULL;
  AdjValue all = { .kind = ADJ_VALUE_TUPLE };

  adj_value_map (returned (self->forward), map_leaf, self->forward_ids, &forward);
  adj_value_map (returned (self->backward), map_leaf, self->backward_ids, &backward);
  all.n = self->num_fwd_outputs + backward.n;
  all.items = items = g_new0 (AdjValue, all.n + 1);
  for (guint i = 0; i < all.n; i++)
    items[i] =
        i < self->num_fwd_outputs ? forward.items[i] : backward.items[i - self->num_fwd_outputs];
  adj_builder_output (self->builder, &all);
}

AdjGraph *
adj_graph_compose (AdjGraph *forward, AdjGraph *backward, guint num_fwd_outputs, GError **error)
{
  g_autoptr (AdjBuilder) builder =
      adj_builder_new ("GraphModule", adj_graph_get_symbols (forward), adj_op_find);
  g_autofree AdjNodeId *forward_ids = g_new0 (AdjNodeId, adj_graph_get_n_nodes (forward));
  g_autofree AdjNodeId *backward_ids = g_new0 (AdjNodeId, adj_graph_get_n_nodes (backward));
  g_autoptr (GArray) storages = g_array_new (FALSE, FALSE, sizeof (gint32));
  Composing self = { builder,      forward,         backward, forward_ids,
                     backward_ids, num_fwd_outputs, storages };
  AdjGraph *leader = adj_graph_get_blocks_leader (forward), *both;

  adj_builder_note_ops_of (builder, forward);
  adj_builder_note_ops_of (builder, backward);
  number_storages (&self);
  copy_placeholders (&self);
  copy_calls (builder, forward, forward_ids, NULL);
  if (!join (&self, error))
    return NULL;
  copy_calls (builder, backward, backward_ids, storages);
  return_both (&self);
  both = adj_builder_seal (builder, error);
  if (both != NULL && leader != NULL)
    adj_graph_follow_blocks (both, leader);
  return both;
}
