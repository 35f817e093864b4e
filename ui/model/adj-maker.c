/* SPDX-License-Identifier: MIT */
/* What made an input of backward: the node of forward that saved it. */

#include "model/adj-maker.h"

#include "ir/adj-graph.h"
#include "passes/adj-compose.h"

static const AdjBundleGraph *
find_forward (AdjDocument *document, const AdjBundleGraph *backward, guint *num_fwd_outputs)
{
  const AdjRegion *region = adj_bundle_find_region (adj_document_get_bundle (document), backward);

  if (region == NULL || region->num_fwd_outputs < 0)
    return NULL;
  *num_fwd_outputs = (guint) region->num_fwd_outputs;
  for (guint i = 0; i < region->n_graphs; i++)
    if (g_str_equal (region->graphs[i]->role, "forward"))
      return region->graphs[i];
  return NULL;
}

gboolean
adj_maker_find (AdjDocument *document, AdjNodeId node, AdjMaker *maker)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  const AdjBundleGraph *shown = adj_document_get_graph (document), *forward;
  guint num_fwd_outputs;

  if (shown == NULL || !adj_node_id_is_valid (node) || !g_str_equal (shown->role, "backward") ||
      adj_graph_get_node (shown->graph, node.index)->opcode != ADJ_OPCODE_PLACEHOLDER)
    return FALSE;
  forward = find_forward (document, shown, &num_fwd_outputs);
  if (forward == NULL)
    return FALSE;
  maker->node = adj_compose_find_saved (forward->graph, shown->graph, num_fwd_outputs, node);
  for (maker->graph = 0; maker->graph < adj_graph_set_get_n (graphs); maker->graph++)
    if (adj_graph_set_get (graphs, maker->graph) == forward)
      return adj_node_id_is_valid (maker->node);
  return FALSE;
}
