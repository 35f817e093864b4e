/* SPDX-License-Identifier: MIT */
#pragma once

#include "inspect/adj-property-card.h"
#include "ir/adj-graph.h"

G_BEGIN_DECLS

/* Of an object: class, methods and state; of a call of a method: the method, the object, and the
 * effects before and after it.  Nothing of any other node. */
void adj_object_card_fill (AdjPropertyCard *card, const AdjGraph *graph, AdjNodeId id);

G_END_DECLS
