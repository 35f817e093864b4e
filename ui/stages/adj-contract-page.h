/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* What compiling keeps of the calls of the region that is shown, and how its writes became values:
 * each with the number of its rule and what that means. */
#define ADJ_TYPE_CONTRACT_PAGE (adj_contract_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjContractPage, adj_contract_page, ADJ, CONTRACT_PAGE, AdjPanel)

G_END_DECLS
