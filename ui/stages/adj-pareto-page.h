/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* In how many ways the joint graph can be taken apart, and what each costs: a curve and a table.
 * They are computed when somebody looks. */
#define ADJ_TYPE_PARETO_PAGE (adj_pareto_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjParetoPage, adj_pareto_page, ADJ, PARETO_PAGE, AdjPanel)

G_END_DECLS
