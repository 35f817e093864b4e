/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/adj-property-card.h"
#include "model/adj-document.h"

G_BEGIN_DECLS

/* Puts the cards about several nodes that are selected together into @cards. */
void adj_selection_cards_fill (GtkBox *cards, AdjDocument *document);

G_END_DECLS
