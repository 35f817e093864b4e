/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The calling convention that compiling gives the shown region, and how its writes are
 * functionalised: each with its rule and explanation. */
#define ADJ_TYPE_CONTRACT_PAGE (adj_contract_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjContractPage, adj_contract_page, ADJ, CONTRACT_PAGE, AdjPanel)

G_END_DECLS
