/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The memory of the graph: a chart over its steps, and a table of live values. */
#define ADJ_TYPE_MEMORY_PAGE (adj_memory_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjMemoryPage, adj_memory_page, ADJ, MEMORY_PAGE, AdjPanel)

G_END_DECLS
