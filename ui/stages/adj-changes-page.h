/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The changes of the shown stage and their reasons: equal changes are one row.  Activating a row
 * goes to its node, for a removed one in the stage before. */
#define ADJ_TYPE_CHANGES_PAGE (adj_changes_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjChangesPage, adj_changes_page, ADJ, CHANGES_PAGE, AdjPanel)

G_END_DECLS
