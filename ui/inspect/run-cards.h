/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/adj-property-card.h"
#include "inspect/node-cards.h"

G_BEGIN_DECLS

/* Cards about the value of a node in the last run; they stay empty where there is none. */

/* The verdict, each number with its limit, and why. */
void adj_run_card_fill_comparison (AdjPropertyCard *card, const AdjNodeSubject *subject);
/* Moments, range, first elements, and a histogram of both sides. */
void adj_run_card_fill_result (AdjPropertyCard *card, const AdjNodeSubject *subject);

G_END_DECLS
