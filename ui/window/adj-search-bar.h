/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* Searches nodes of the shown graph. */
#define ADJ_TYPE_SEARCH_BAR (adj_search_bar_get_type ())
G_DECLARE_FINAL_TYPE (AdjSearchBar, adj_search_bar, ADJ, SEARCH_BAR, AdjPanel)

void adj_search_bar_focus (AdjSearchBar *self);
/* Selects the next (1) or previous (-1) found node. */
void adj_search_bar_step (AdjSearchBar *self, gint step);

G_END_DECLS
