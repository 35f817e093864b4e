/* SPDX-License-Identifier: MIT */
#pragma once

#include "widgets/adj-panel.h"

G_BEGIN_DECLS

/* The log of a document, line by line. */
#define ADJ_TYPE_LOG_PAGE (adj_log_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjLogPage, adj_log_page, ADJ, LOG_PAGE, AdjPanel)

G_END_DECLS
