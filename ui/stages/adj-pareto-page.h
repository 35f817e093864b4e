/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The possible partitions of the joint graph and their costs: a curve and a table, computed when
 * the page is visible. */
#define ADJ_TYPE_PARETO_PAGE (adj_pareto_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjParetoPage, adj_pareto_page, ADJ, PARETO_PAGE, AdjPanel)

G_END_DECLS
