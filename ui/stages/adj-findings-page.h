/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* Known mistakes in the graphs of the file, with their nodes.  Activating a row shows the node. */
#define ADJ_TYPE_FINDINGS_PAGE (adj_findings_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjFindingsPage, adj_findings_page, ADJ, FINDINGS_PAGE, AdjPanel)

G_END_DECLS
