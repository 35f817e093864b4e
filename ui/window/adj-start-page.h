/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

G_BEGIN_DECLS

/* The page that is shown before a file is open. */
#define ADJ_TYPE_START_PAGE (adj_start_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjStartPage, adj_start_page, ADJ, START_PAGE, AdwBin)

G_END_DECLS
