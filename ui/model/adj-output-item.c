/* SPDX-License-Identifier: MIT */
/* An output of a graph, with its value and comparison, as an item of a list model. */

#include "model/adj-output-item.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"

struct _AdjOutputItem
{
  GObject parent_instance;

  AdjEvaluation *evaluation; /* (owned) */
  guint position;
  AdjNodeId node;
  AdjTensorData *value; /* (owned) (nullable) */
};

G_DEFINE_FINAL_TYPE (AdjOutputItem, adj_output_item, G_TYPE_OBJECT)

static void
adj_output_item_finalize (GObject *object)
{
  AdjOutputItem *self = ADJ_OUTPUT_ITEM (object);

  g_clear_pointer (&self->evaluation, adj_evaluation_unref);
  g_clear_pointer (&self->value, adj_tensor_data_unref);

  G_OBJECT_CLASS (adj_output_item_parent_class)->finalize (object);
}

static void
adj_output_item_class_init (AdjOutputItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_output_item_finalize;
}

static void
adj_output_item_init (AdjOutputItem *self)
{
}

guint
adj_output_item_get_position (AdjOutputItem *self)
{
  return self->position;
}

AdjNodeId
adj_output_item_get_node (AdjOutputItem *self)
{
  return self->node;
}

const char *
adj_output_item_get_name (AdjOutputItem *self)
{
  AdjGraph *graph = adj_evaluation_get_graph (self->evaluation);

  return adj_node_id_is_valid (self->node) ? adj_graph_get_node (graph, self->node.index)->name
                                           : "";
}

AdjTensorData *
adj_output_item_get_value (AdjOutputItem *self)
{
  return self->value;
}

const AdjValueComparison *
adj_output_item_get_comparison (AdjOutputItem *self)
{
  const AdjComparison *comparison = adj_evaluation_get_comparison (self->evaluation);

  return comparison != NULL && self->position < comparison->n_outputs
             ? &comparison->outputs[self->position]
             : NULL;
}

/* -- all of them -- */

typedef struct
{
  AdjEvaluation *evaluation;
  GListStore *items;
  guint at; /* index among the leaves of the output */
} Listing;

static gboolean
add_leaf (const AdjValue *leaf, gpointer data)
{
  Listing *listing = data;
  g_autoptr (AdjOutputItem) item = g_object_new (ADJ_TYPE_OUTPUT_ITEM, NULL);

  item->evaluation = adj_evaluation_ref (listing->evaluation);
  item->position = g_list_model_get_n_items (G_LIST_MODEL (listing->items));
  item->node = leaf->kind == ADJ_VALUE_NODE ? leaf->node : ADJ_NO_NODE;
  g_list_store_append (listing->items, item);
  return TRUE;
}

static gboolean
take_value (const AdjValue *leaf, gpointer data)
{
  Listing *listing = data;
  g_autoptr (AdjOutputItem) item =
      g_list_model_get_item (G_LIST_MODEL (listing->items), listing->at++);

  if (item != NULL && leaf->kind == ADJ_VALUE_DATA)
    item->value = adj_tensor_data_ref (leaf->data);
  return TRUE;
}

GListStore *
adj_outputs_list (AdjEvaluation *evaluation)
{
  const AdjGraph *graph = adj_evaluation_get_graph (evaluation);
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
  Listing listing = { evaluation, g_list_store_new (ADJ_TYPE_OUTPUT_ITEM), 0 };

  if (output->args.n > 0)
    adj_value_foreach (&output->args.items[0], add_leaf, &listing);
  adj_value_foreach (&adj_evaluation_get_result (evaluation)->output, take_value, &listing);
  return listing.items;
}
