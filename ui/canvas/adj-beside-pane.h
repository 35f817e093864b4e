/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-graph-view.h"
#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* A second graph beside the canvas, as picture and as difference of texts: scrolling, zoom and
 * selection are synchronised with the first.  Nothing is computed while it is not visible. */
#define ADJ_TYPE_BESIDE_PANE (adj_beside_pane_get_type ())
G_DECLARE_FINAL_TYPE (AdjBesidePane, adj_beside_pane, ADJ, BESIDE_PANE, AdjPanel)

/* @view: that of the first graph. */
void adj_beside_pane_set_view (AdjBesidePane *self, AdjGraphView *view);
/* Shows @graph of @graphs, of the file with that title. */
void adj_beside_pane_set_graph (AdjBesidePane *self,
                                AdjGraphSet *graphs,
                                const AdjBundleGraph *graph,
                                const char *file);
AdjGraphView *adj_beside_pane_get_view (AdjBesidePane *self); /* (transfer none): of the second */

G_END_DECLS
