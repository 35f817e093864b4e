/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"
#include "inspect/adj-property-card.h"

G_BEGIN_DECLS

/* For an object: class, methods and state, and (@result: nullable) its state after the run; for a
 * call of a method: the method, the object, and the effects before and after it.  Empty for other
 * nodes. */
void adj_object_card_fill (AdjPropertyCard *card,
                           const AdjGraph *graph,
                           AdjNodeId id,
                           const AdjRunResult *result);

G_END_DECLS
