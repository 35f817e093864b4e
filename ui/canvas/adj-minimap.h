/* SPDX-License-Identifier: MIT */
#pragma once

#include "canvas/adj-graph-view.h"

G_BEGIN_DECLS

/* The whole picture, small, with a frame around what a canvas shows.  Click and drag to go there.
 */
#define ADJ_TYPE_MINIMAP (adj_minimap_get_type ())
G_DECLARE_FINAL_TYPE (AdjMinimap, adj_minimap, ADJ, MINIMAP, GtkWidget)

void adj_minimap_set_view (AdjMinimap *self, AdjGraphView *view);

G_END_DECLS
