/* SPDX-License-Identifier: MIT */
#pragma once

#include "layout/adj-draft.h"

G_BEGIN_DECLS

static inline const AdjNode *
adj_draft_node (const AdjDraft *self, guint32 index)
{
  return adj_graph_get_node (self->census->graph, index);
}

/* Links from what the items read of each other; every node has its item. */
void adj_draft_make_links (AdjDraft *self);
/* What backward reads from each forward item, and all of it, each storage once. */
void adj_draft_sum_saved (AdjDraft *self);

G_END_DECLS
