/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* What the graph holds when: a chart over the steps, and a ledger of what is held longest. */
#define ADJ_TYPE_MEMORY_PAGE (adj_memory_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjMemoryPage, adj_memory_page, ADJ, MEMORY_PAGE, AdjPanel)

G_END_DECLS
