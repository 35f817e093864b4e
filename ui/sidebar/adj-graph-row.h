/* SPDX-License-Identifier: MIT */
#pragma once

#include <gtk/gtk.h>

#include "model/adj-graph-item.h"

G_BEGIN_DECLS

/* A graph in the list of a file. */
#define ADJ_TYPE_GRAPH_ROW (adj_graph_row_get_type ())
G_DECLARE_FINAL_TYPE (AdjGraphRow, adj_graph_row, ADJ, GRAPH_ROW, GtkListBoxRow)

GtkWidget *adj_graph_row_new (AdjGraphItem *item);
AdjGraphItem *adj_graph_row_get_item (AdjGraphRow *self); /* (transfer none) */

G_END_DECLS
