/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The source lines of the shown graph, ranked by the time of a run, by the bytes that backward
 * reads or by the number of nodes.  A line that is selected lights its nodes, one that is activated
 * selects them. */
#define ADJ_TYPE_LINES_PANE (adj_lines_pane_get_type ())
G_DECLARE_FINAL_TYPE (AdjLinesPane, adj_lines_pane, ADJ, LINES_PANE, AdjPanel)

/* Lists the lines.  Returns whether the shown graph names any. */
gboolean adj_lines_pane_update (AdjLinesPane *self);

G_END_DECLS
