/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "layout/adj-captured.h"

G_BEGIN_DECLS

/* A module of the model with its totals, as in the outline of a graph. */
#define ADJ_TYPE_MODULE_ITEM (adj_module_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjModuleItem, adj_module_item, ADJ, MODULE_ITEM, GObject)

/* The top-level modules of @graph, in order of execution; for a captured backward the autograd
 * nodes that it was captured from.  Items have their children.  @captured: (nullable)
 * (transfer full) */
GListModel *adj_module_tree_new (const AdjGraph *graph, const AdjCaptured *captured);

const char *adj_module_item_get_path (AdjModuleItem *self);  /* "h.0.attn" */
const char *adj_module_item_get_title (AdjModuleItem *self); /* "attn" or "0 Block" */
/* Forward and backward nodes, those of inner modules included. */
guint adj_module_item_get_n_nodes (AdjModuleItem *self);
/* Bytes saved for backward by its forward nodes, each storage once; 0 when there is no backward. */
gint64 adj_module_item_get_saved_bytes (AdjModuleItem *self);
/* (nullable) (transfer none) */
GListModel *adj_module_item_get_children (AdjModuleItem *self);
/* Its nodes in @graph, for which the tree was made, those of inner modules included.
 * (transfer full): of guint32 */
GArray *adj_module_item_list_nodes (AdjModuleItem *self, const AdjGraph *graph);
/* A node of the module; the first forward one. */
AdjNodeId adj_module_item_get_first (AdjModuleItem *self);

G_END_DECLS
