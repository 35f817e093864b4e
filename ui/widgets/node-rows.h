/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "widgets/context-menu.h"

G_BEGIN_DECLS

/**
 * adj_node_rows_take:
 * @graph: index of a graph in the document, which need not be the shown one
 * @nodes: (element-type guint32): nodes of it that a row represents; the last is the current one
 * @target: (out) (transfer full)
 *
 * Prepares the context menu of the row.  In the shown graph the nodes are selected; nodes of
 * another graph become the target of a menu that goes there.
 *
 * Returns: 0 when there is no node
 */
AdjMenu adj_node_rows_take (AdjDocument *document, guint graph, const GArray *nodes, char **target);

/* Goes to the nodes of such a target. */
void adj_node_rows_show (AdjDocument *document, const char *target);
/* The names of its nodes, one per line.  (transfer full) */
char *adj_node_rows_list_names (const char *target);

G_END_DECLS
