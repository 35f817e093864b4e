/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* How a backward that compiled autograd captured runs: its nodes of autograd, the orders that its
 * steps have, what it holds and how long, why it was captured, and which sizes are symbols. */
#define ADJ_TYPE_BACKWARD_PAGE (adj_backward_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjBackwardPage, adj_backward_page, ADJ, BACKWARD_PAGE, AdjPanel)

G_END_DECLS
