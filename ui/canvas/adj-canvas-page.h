/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-graph-view.h"
#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The canvas with breadcrumbs, the choice of views, overview and legend. */
#define ADJ_TYPE_CANVAS_PAGE (adj_canvas_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjCanvasPage, adj_canvas_page, ADJ, CANVAS_PAGE, AdjPanel)

AdjGraphView *adj_canvas_page_get_view (AdjCanvasPage *self); /* (transfer none) */

G_END_DECLS
