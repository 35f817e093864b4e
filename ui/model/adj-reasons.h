/* SPDX-License-Identifier: MIT */
#pragma once

#include "model/adj-work.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* Asks the min-cut partitioner in another thread what it would do with a joint graph, and why; the
 * result is an AdjPartition of @graph. */
AdjWork *adj_reasons_start (GObject *owner, AdjGraph *graph, GAsyncReadyCallback done);
AdjGraph *adj_reasons_get_graph (AdjWork *work); /* (transfer none) */

G_END_DECLS
