/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The differences between the value of the selected node and its reference, element by element;
 * hidden when they are equal. */
#define ADJ_TYPE_DIFFERENCE_PANE (adj_difference_pane_get_type ())
G_DECLARE_FINAL_TYPE (AdjDifferencePane, adj_difference_pane, ADJ, DIFFERENCE_PANE, AdjPanel)

G_END_DECLS
