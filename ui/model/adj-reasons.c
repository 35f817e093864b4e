/* SPDX-License-Identifier: MIT */
/* A task that asks the partitioner for its decisions. */

#include "model/adj-reasons.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"

static gpointer
ask (AdjTask *task, GCancellable *cancellable, GError **error)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.cancellable = cancellable;
  return adj_partition (adj_partitioner_find ("min-cut", NULL), adj_task_get_input (task), &options,
                        error);
}

AdjTask *
adj_reasons_start (GObject *owner, AdjGraph *graph, GAsyncReadyCallback done)
{
  return adj_task_start (owner, ADJ_LOAD_LIGHT, ask, adj_graph_ref (graph),
                         (GDestroyNotify) adj_graph_unref, (GDestroyNotify) adj_partition_unref,
                         done);
}

AdjGraph *
adj_reasons_get_graph (AdjTask *task)
{
  return adj_task_get_input (task);
}
