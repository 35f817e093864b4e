/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* Facts of the file about the shown graph: kernels that were made from it, and texts. */
#define ADJ_TYPE_FACTS_PAGE (adj_facts_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjFactsPage, adj_facts_page, ADJ, FACTS_PAGE, AdjPanel)

G_END_DECLS
