/* SPDX-License-Identifier: MIT */
/* Steps through the calls of a graph as they run. */

#include "model/adj-playback.h"

#include "ir/adj-graph.h"

static gboolean
computes (const AdjGraph *graph, gint64 index)
{
  AdjOpcode opcode = adj_graph_get_node (graph, (guint) index)->opcode;

  return opcode != ADJ_OPCODE_PLACEHOLDER && opcode != ADJ_OPCODE_GET_ATTR &&
         opcode != ADJ_OPCODE_OUTPUT;
}

void
adj_playback_step (AdjDocument *document, gint step)
{
  const AdjBundleGraph *shown = adj_document_get_graph (document);
  AdjNodeId selected = adj_document_get_selected (document);
  gint64 n, at;

  if (shown == NULL)
    return;
  if (adj_document_get_evaluation (document) == NULL && !adj_document_is_running (document))
    adj_document_run (document, FALSE);
  n = adj_graph_get_n_nodes (shown->graph);
  at = adj_node_id_is_valid (selected) ? selected.index : step > 0 ? -1 : n;
  for (at += step; at >= 0 && at < n; at += step)
    if (computes (shown->graph, at))
      {
        adj_document_set_selected (document, (AdjNodeId){ (guint32) at });
        return;
      }
}
