/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/adj-fact-card.h"
#include "model/adj-document.h"

G_BEGIN_DECLS

/* What is known of a node of a backward that compiled autograd captured; the cards stay empty for
 * other nodes, and for those of other graphs. */

/* What it calls, where that was registered, and what it made of its gradient. */
void adj_backward_card_fill_hook (AdjFactCard *card, AdjDocument *document, AdjNodeId id);
/* Where an input comes from. */
void adj_backward_card_fill_origin (AdjFactCard *card, AdjDocument *document, AdjNodeId id);
/* The leaf, and what becomes of its gradient. */
void adj_backward_card_fill_accumulation (AdjFactCard *card, AdjDocument *document, AdjNodeId id);
/* The node of autograd. */
void adj_backward_card_fill_call (AdjFactCard *card, AdjDocument *document, AdjNodeId id);

G_END_DECLS
