/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "canvas/adj-graph-view.h"

G_BEGIN_DECLS

/* Describes the item under the pointer in a few lines beside it; for an overlay that holds the
 * canvas. */
#define ADJ_TYPE_HOVER_CARD (adj_hover_card_get_type ())
G_DECLARE_FINAL_TYPE (AdjHoverCard, adj_hover_card, ADJ, HOVER_CARD, AdwBin)

void adj_hover_card_set_view (AdjHoverCard *self, AdjGraphView *view);

G_END_DECLS
