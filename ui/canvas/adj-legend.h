/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "canvas/adj-graph-view.h"

G_BEGIN_DECLS

/* The roles in a picture; a click highlights one and dims the others. */
#define ADJ_TYPE_LEGEND (adj_legend_get_type ())
G_DECLARE_FINAL_TYPE (AdjLegend, adj_legend, ADJ, LEGEND, AdwBin)

void adj_legend_set_view (AdjLegend *self, AdjGraphView *view);
/* To be called after the view got another picture. */
void adj_legend_update (AdjLegend *self);

G_END_DECLS
