/* SPDX-License-Identifier: MIT */
#pragma once

#include <adwaita.h>

#include "model/adj-document.h"

G_BEGIN_DECLS

/* What every node computed, and how it compares. */
#define ADJ_TYPE_VALUES_PAGE (adj_values_page_get_type ())
G_DECLARE_FINAL_TYPE (AdjValuesPage, adj_values_page, ADJ, VALUES_PAGE, AdwBin)

void adj_values_page_set_document (AdjValuesPage *self, AdjDocument *document);

G_END_DECLS
