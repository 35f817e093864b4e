/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/adj-property-card.h"
#include "model/adj-document.h"

G_BEGIN_DECLS

/* Cards about a node of a captured backward; they stay empty for other nodes. */

/* The hook that the node calls, where it was registered, and what it did to the gradient. */
void adj_backward_card_fill_hook (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id);
/* The origin of an input. */
void adj_backward_card_fill_origin (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id);
/* The leaf, and how its gradient is accumulated. */
void
adj_backward_card_fill_accumulation (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id);
/* The autograd node. */
void adj_backward_card_fill_call (AdjPropertyCard *card, AdjDocument *document, AdjNodeId id);

G_END_DECLS
