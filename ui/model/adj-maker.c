/* SPDX-License-Identifier: MIT */
/* Finds the forward node that saved an input of backward, be it alone or inlined by compiled
 * autograd. */

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

/* The backward graph whose input @input is node @node of the shown graph. (nullable) */
static const AdjBundleGraph *
find_backward (AdjDocument *document, AdjNodeId node, AdjNodeId *input)
{
  const AdjBundleGraph *shown = adj_document_get_graph (document);
  const AdjCaptured *captured;

  if (shown == NULL || !adj_node_id_is_valid (node))
    return NULL;
  captured = adj_document_get_captured (document);
  if (captured != NULL)
    return adj_captured_find_inlined (captured, node.index, input);
  *input = node;
  return g_str_equal (shown->role, "backward") &&
                 adj_graph_get_node (shown->graph, node.index)->opcode == ADJ_OPCODE_PLACEHOLDER
             ? shown
             : NULL;
}

gboolean
adj_maker_find (AdjDocument *document, AdjNodeId node, AdjMaker *maker)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  const AdjBundleGraph *backward, *forward;
  AdjNodeId input;
  guint num_fwd_outputs;

  backward = find_backward (document, node, &input);
  forward = backward != NULL ? find_forward (document, backward, &num_fwd_outputs) : NULL;
  if (forward == NULL)
    return FALSE;
  maker->node = adj_compose_find_saved (forward->graph, backward->graph, num_fwd_outputs, input);
  for (maker->graph = 0; maker->graph < adj_graph_set_get_n (graphs); maker->graph++)
    if (adj_graph_set_get (graphs, maker->graph) == forward)
      return adj_node_id_is_valid (maker->node);
  return FALSE;
}
