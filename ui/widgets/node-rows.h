/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-document.h"
#include "widgets/context-menu.h"

G_BEGIN_DECLS

/**
 * adj_node_rows_take:
 * @graph: the place of a graph in the document, which may be another one than the shown
 * @nodes: (element-type guint32): of it, that a row of a list stands for; the last is looked at
 * @target: (out) (transfer full)
 *
 * What the context menu of the row is about.  In the shown graph the nodes are selected; those of
 * another are the target of a menu that leads there.
 *
 * Returns: 0 when there is no node
 */
AdjMenu adj_node_rows_take (AdjDocument *document, guint graph, const GArray *nodes, char **target);

/* Shows the nodes that such a target names. */
void adj_node_rows_show (AdjDocument *document, const char *target);
/* Their names, a line each.  (transfer full) */
char *adj_node_rows_list_names (const char *target);

G_END_DECLS
