/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-evaluation.h"

G_BEGIN_DECLS

/* A value that a graph returned, for tables. */
#define ADJ_TYPE_OUTPUT_ITEM (adj_output_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjOutputItem, adj_output_item, ADJ, OUTPUT_ITEM, GObject)

guint adj_output_item_get_position (AdjOutputItem *self);
AdjNodeId adj_output_item_get_node (AdjOutputItem *self); /* that computes it; or ADJ_NO_NODE */
const char *adj_output_item_get_name (AdjOutputItem *self);
AdjTensorData *adj_output_item_get_value (AdjOutputItem *self); /* (nullable): no tensor */
/* (nullable): its comparison */
const AdjValueComparison *adj_output_item_get_comparison (AdjOutputItem *self);

/* All outputs in order. (transfer full): of AdjOutputItem */
GListStore *adj_outputs_list (AdjEvaluation *evaluation);

G_END_DECLS
