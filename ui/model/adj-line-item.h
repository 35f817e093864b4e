/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "model/adj-evaluation.h"

G_BEGIN_DECLS

/* A source line with what its nodes cost together. */
#define ADJ_TYPE_LINE_ITEM (adj_line_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjLineItem, adj_line_item, ADJ, LINE_ITEM, GObject)

const AdjFrame *adj_line_item_get_frame (AdjLineItem *self);
GArray *adj_line_item_get_nodes (AdjLineItem *self); /* (transfer none): of guint32 */

typedef enum
{
  ADJ_LINE_TIME,  /* nanoseconds of the run */
  ADJ_LINE_SAVED, /* bytes, as AdjSavedValues has them */
  ADJ_LINE_NODES,
  ADJ_N_LINE_COSTS,
} AdjLineCost;

/* 0: none, or the graph was not run. */
gint64 adj_line_item_get_cost (AdjLineItem *self, AdjLineCost cost);

/* The lines that made nodes of @graph, each by the innermost frame of its stack traces, in the
 * order of their first nodes.  @evaluation: (nullable): says the times.  (transfer full): of
 * AdjLineItem
 */
GListModel *adj_line_items_list (AdjGraph *graph, const AdjEvaluation *evaluation);

G_END_DECLS
