/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The graphs of the file, and the modules of the shown one. */
#define ADJ_TYPE_SIDEBAR (adj_sidebar_get_type ())
G_DECLARE_FINAL_TYPE (AdjSidebar, adj_sidebar, ADJ, SIDEBAR, AdjPanel)

G_END_DECLS
