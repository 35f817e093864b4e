/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The run of the shown graph: inputs, executor, precision, reference and tolerances; and its
 * outputs. */
#define ADJ_TYPE_RUN_PAGE (adj_run_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjRunPage, adj_run_page, ADJ, RUN_PAGE, AdjPanel)

/* Focuses the first choice. */
void adj_run_page_focus (AdjRunPage *self);

G_END_DECLS
