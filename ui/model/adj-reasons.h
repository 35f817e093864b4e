/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "model/adj-task.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* Runs the min-cut partitioner on a joint graph in another thread, to explain its decisions; the
 * result is an AdjPartition of @graph. */
AdjTask *adj_reasons_start (GObject *owner, AdjGraph *graph, GAsyncReadyCallback done);
AdjGraph *adj_reasons_get_graph (AdjTask *task); /* (transfer none) */

G_END_DECLS
