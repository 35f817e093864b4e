/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-graph.h"
#include "layout/adj-display-list.h"

G_BEGIN_DECLS

static inline const AdjNode *
adj_display_list_node (const AdjDisplayList *self, guint32 index)
{
  return adj_graph_get_node (self->roles->graph, index);
}

/* Links from what the items read of each other; every node has its item. */
void adj_display_list_make_links (AdjDisplayList *self);
/* What backward reads from each forward item, and all of it, each storage once. */
void adj_display_list_sum_saved (AdjDisplayList *self);

G_END_DECLS
