/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* What every node computed, and how it compares. */
#define ADJ_TYPE_VALUES_PAGE (adj_values_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjValuesPage, adj_values_page, ADJ, VALUES_PAGE, AdjPanel)

G_END_DECLS
