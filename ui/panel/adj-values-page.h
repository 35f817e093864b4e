/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The values of all nodes and their comparison. */
#define ADJ_TYPE_VALUES_PAGE (adj_values_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjValuesPage, adj_values_page, ADJ, VALUES_PAGE, AdjPanel)

G_END_DECLS
