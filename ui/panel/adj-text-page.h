/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The graph as text in PyTorch's form; the selection follows the cursor and the reverse. */
#define ADJ_TYPE_TEXT_PAGE (adj_text_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjTextPage, adj_text_page, ADJ, TEXT_PAGE, AdjPanel)

G_END_DECLS
