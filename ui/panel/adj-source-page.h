/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The stack trace of the selected node and the code around each frame; every line lists the nodes
 * that it made. */
#define ADJ_TYPE_SOURCE_PAGE (adj_source_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjSourcePage, adj_source_page, ADJ, SOURCE_PAGE, AdjPanel)

G_END_DECLS
