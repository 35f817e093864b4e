/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "ir/adj-value.h"
#include "model/adj-evaluation.h"

G_BEGIN_DECLS

/* A node, for tables and lists. */
#define ADJ_TYPE_NODE_ITEM (adj_node_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjNodeItem, adj_node_item, ADJ, NODE_ITEM, GObject)

AdjNodeId adj_node_item_get_id (AdjNodeItem *self);
const AdjNode *adj_node_item_get_node (AdjNodeItem *self);
AdjGraph *adj_node_item_get_graph (AdjNodeItem *self);
AdjEvaluation *adj_node_item_get_evaluation (AdjNodeItem *self); /* (nullable) */
/* (nullable): its comparison */
const AdjValueComparison *adj_node_item_get_comparison (AdjNodeItem *self);
/* Nanoseconds that it took; -1: not run. */
gint64 adj_node_item_get_time (AdjNodeItem *self);

/* Nodes of a graph in order of execution, made on demand. */
#define ADJ_TYPE_NODE_LIST (adj_node_list_get_type ())
G_DECLARE_FINAL_TYPE (AdjNodeList, adj_node_list, ADJ, NODE_LIST, GObject)

AdjNodeList *adj_node_list_new (void);
/**
 * adj_node_list_set:
 * @graph: (nullable):
 * @nodes: (nullable): of guint: only these, in this order; %NULL: all
 * @evaluation: (nullable):
 */
void
adj_node_list_set (AdjNodeList *self, AdjGraph *graph, GArray *nodes, AdjEvaluation *evaluation);
/* The row of a node; G_MAXUINT when it is not in the list. */
guint adj_node_list_find (AdjNodeList *self, AdjNodeId node);

G_END_DECLS
