/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-graph-set.h"

G_BEGIN_DECLS

/* A graph of a file, for lists. */
#define ADJ_TYPE_GRAPH_ITEM (adj_graph_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjGraphItem, adj_graph_item, ADJ, GRAPH_ITEM, GObject)

AdjGraphItem *adj_graph_item_new (AdjGraphSet *graphs, guint index);
const AdjBundleGraph *adj_graph_item_get_graph (AdjGraphItem *self);
const char *adj_graph_item_get_title (AdjGraphItem *self);
/* "Region 0/0", "Rank 1 · Compiled backward 0", or "" for graphs outside any region. */
char *adj_graph_describe_region (const AdjBundleGraph *graph); /* (transfer full) */
const char *adj_graph_item_get_region (AdjGraphItem *self);
guint adj_graph_item_get_index (AdjGraphItem *self);
/* Number of nodes as PyTorch's tools count: without placeholders and output. */
guint adj_graph_item_get_n_calls (AdjGraphItem *self);
guint adj_graph_item_get_n_nodes (AdjGraphItem *self);
/* "recorded call, 3 inputs"; "" when nothing was recorded. */
const char *adj_graph_item_get_subtitle (AdjGraphItem *self);

/* The graphs of a file, made on demand. */
#define ADJ_TYPE_GRAPH_LIST (adj_graph_list_get_type ())
G_DECLARE_FINAL_TYPE (AdjGraphList, adj_graph_list, ADJ, GRAPH_LIST, GObject)

AdjGraphList *adj_graph_list_new (void);
/* @graphs: (nullable) */
void adj_graph_list_set_graphs (AdjGraphList *self, AdjGraphSet *graphs);

G_END_DECLS
