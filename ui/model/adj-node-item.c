/* SPDX-License-Identifier: MIT */
/* A node, with what a run measured of it, as an item of a list model. */

#include "model/adj-node-item.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"

struct _AdjNodeItem
{
  GObject parent_instance;

  AdjGraph *graph;           /* (owned) */
  AdjEvaluation *evaluation; /* (owned) (nullable) */
  AdjNodeId id;
};

G_DEFINE_FINAL_TYPE (AdjNodeItem, adj_node_item, G_TYPE_OBJECT)

static void
adj_node_item_finalize (GObject *object)
{
  AdjNodeItem *self = ADJ_NODE_ITEM (object);

  g_clear_pointer (&self->graph, adj_graph_unref);
  g_clear_pointer (&self->evaluation, adj_evaluation_unref);

  G_OBJECT_CLASS (adj_node_item_parent_class)->finalize (object);
}

static void
adj_node_item_class_init (AdjNodeItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_node_item_finalize;
}

static void
adj_node_item_init (AdjNodeItem *self)
{
}

AdjNodeId
adj_node_item_get_id (AdjNodeItem *self)
{
  return self->id;
}

const AdjNode *
adj_node_item_get_node (AdjNodeItem *self)
{
  return adj_graph_get_node (self->graph, self->id.index);
}

AdjGraph *
adj_node_item_get_graph (AdjNodeItem *self)
{
  return self->graph;
}

AdjEvaluation *
adj_node_item_get_evaluation (AdjNodeItem *self)
{
  return self->evaluation;
}

const AdjValueComparison *
adj_node_item_get_comparison (AdjNodeItem *self)
{
  return self->evaluation != NULL ? adj_evaluation_find (self->evaluation, self->id) : NULL;
}

gint64
adj_node_item_get_time (AdjNodeItem *self)
{
  const AdjRunResult *result;

  if (self->evaluation == NULL)
    return -1;
  result = adj_evaluation_get_result (self->evaluation);
  return self->id.index < result->n_nodes && result->node_ns != NULL
             ? result->node_ns[self->id.index]
             : -1;
}

/* -- the list -- */

struct _AdjNodeList
{
  GObject parent_instance;

  AdjGraph *graph;           /* (owned) (nullable) */
  GArray *nodes;             /* (owned) (nullable) */
  AdjEvaluation *evaluation; /* (owned) (nullable) */
};

static GType
adj_node_list_get_item_type (GListModel *model)
{
  return ADJ_TYPE_NODE_ITEM;
}

static guint
adj_node_list_get_n_items (GListModel *model)
{
  AdjNodeList *self = ADJ_NODE_LIST (model);

  if (self->graph == NULL)
    return 0;
  return self->nodes != NULL ? self->nodes->len : adj_graph_get_n_nodes (self->graph);
}

static gpointer
adj_node_list_get_item (GListModel *model, guint position)
{
  AdjNodeList *self = ADJ_NODE_LIST (model);
  AdjNodeItem *item;

  if (position >= adj_node_list_get_n_items (model))
    return NULL;
  item = g_object_new (ADJ_TYPE_NODE_ITEM, NULL);
  item->graph = adj_graph_ref (self->graph);
  item->evaluation = self->evaluation != NULL ? adj_evaluation_ref (self->evaluation) : NULL;
  item->id.index = self->nodes != NULL ? g_array_index (self->nodes, guint, position) : position;
  return item;
}

static void
adj_node_list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = adj_node_list_get_item_type;
  iface->get_n_items = adj_node_list_get_n_items;
  iface->get_item = adj_node_list_get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (AdjNodeList,
                               adj_node_list,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, adj_node_list_model_init))

static void
clear (AdjNodeList *self)
{
  g_clear_pointer (&self->graph, adj_graph_unref);
  g_clear_pointer (&self->nodes, g_array_unref);
  g_clear_pointer (&self->evaluation, adj_evaluation_unref);
}

static void
adj_node_list_finalize (GObject *object)
{
  clear (ADJ_NODE_LIST (object));

  G_OBJECT_CLASS (adj_node_list_parent_class)->finalize (object);
}

static void
adj_node_list_class_init (AdjNodeListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_node_list_finalize;
}

static void
adj_node_list_init (AdjNodeList *self)
{
}

AdjNodeList *
adj_node_list_new (void)
{
  return g_object_new (ADJ_TYPE_NODE_LIST, NULL);
}

void
adj_node_list_set (AdjNodeList *self, AdjGraph *graph, GArray *nodes, AdjEvaluation *evaluation)
{
  guint removed = adj_node_list_get_n_items (G_LIST_MODEL (self));

  g_return_if_fail (ADJ_IS_NODE_LIST (self));

  if (graph != NULL)
    adj_graph_ref (graph);
  if (nodes != NULL)
    g_array_ref (nodes);
  if (evaluation != NULL)
    adj_evaluation_ref (evaluation);
  clear (self);
  self->graph = graph;
  self->nodes = nodes;
  self->evaluation = evaluation;
  g_list_model_items_changed (G_LIST_MODEL (self), 0, removed,
                              adj_node_list_get_n_items (G_LIST_MODEL (self)));
}

guint
adj_node_list_find (AdjNodeList *self, AdjNodeId node)
{
  g_return_val_if_fail (ADJ_IS_NODE_LIST (self), G_MAXUINT);

  if (self->graph == NULL || node.index >= adj_graph_get_n_nodes (self->graph))
    return G_MAXUINT;
  if (self->nodes == NULL)
    return node.index;
  for (guint i = 0; i < self->nodes->len; i++)
    if (g_array_index (self->nodes, guint, i) == node.index)
      return i;
  return G_MAXUINT;
}
