/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/adj-executor.h"
#include "inspect/adj-property-card.h"

G_BEGIN_DECLS

/* Of an object: class, methods and state, and (@result: nullable) what the run made of it; of a
 * call of a method: the method, the object, and the effects before and after it.  Nothing of any
 * other node. */
void adj_object_card_fill (AdjPropertyCard *card,
                           const AdjGraph *graph,
                           AdjNodeId id,
                           const AdjRunResult *result);

G_END_DECLS
