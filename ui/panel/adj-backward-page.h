/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The execution of a captured backward: its autograd nodes, the orders of its steps, live memory
 * and lifetimes, the reasons for captures, and symbolic sizes. */
#define ADJ_TYPE_BACKWARD_PAGE (adj_backward_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjBackwardPage, adj_backward_page, ADJ, BACKWARD_PAGE, AdjPanel)

G_END_DECLS
