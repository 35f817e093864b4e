/* SPDX-License-Identifier: MIT */
/* AdjGradNode: references, edges, inputs and queries. */

#include <string.h>

#include "autograd/autograd-private.h"
#include "ir/adj-graph.h"

AdjGradNode *
grad_node_new (Autograd *autograd, const GradNodeClass *klass, gsize size, char *name)
{
  AdjGradNode *node = g_malloc0 (size);

  node->klass = klass;
  node->ref_count = 1;
  node->name = name;
  node->sequence = autograd->next_sequence++;
  if ((autograd->flags & ADJ_AUTOGRAD_ANOMALY) != 0 && autograd->task != NULL)
    node->induced_by = adj_grad_node_ref (engine_get_node (autograd));
  return node;
}

AdjGradNode *
adj_grad_node_ref (AdjGradNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  node->ref_count++;
  return node;
}

/* Frees @node; the nodes at its edges are moved to @nodes. */
static void
free_node (AdjGradNode *node, GPtrArray *nodes)
{
  if (node->klass->finalize != NULL)
    node->klass->finalize (node);
  for (guint i = 0; i < node->n_edges; i++)
    if (node->edges[i].node != NULL)
      g_ptr_array_add (nodes, node->edges[i].node);
  if (node->induced_by != NULL)
    g_ptr_array_add (nodes, node->induced_by);
  g_clear_pointer (&node->tensor_hooks, g_ptr_array_unref);
  g_clear_pointer (&node->pre_hooks, g_ptr_array_unref);
  g_clear_pointer (&node->post_hooks, g_ptr_array_unref);
  g_free (node->retainers);
  if (node->edges != node->few)
    g_free (node->edges);
  g_free (node->inputs);
  g_clear_pointer (&node->graph, adj_graph_unref);
  g_clear_pointer (&node->outer, adj_graph_unref);
  g_free (node->file);
  g_free (node->name);
  g_free (node);
}

/* Frees chains of nodes without recursion. Saved values are released before the edges, which hold
 * the nodes that made them. */
void
adj_grad_node_unref (AdjGradNode *node)
{
  g_autoptr (GPtrArray) nodes = NULL;

  if (node == NULL || --node->ref_count > 0)
    return;
  nodes = g_ptr_array_new ();
  free_node (node, nodes);
  while (nodes->len > 0)
    {
      node = g_ptr_array_steal_index_fast (nodes, nodes->len - 1);
      if (--node->ref_count == 0)
        free_node (node, nodes);
    }
}

void
grad_node_set_place (AdjGradNode *node, const AdjPlace *place)
{
  if (place->graph != NULL)
    {
      node->graph = adj_graph_ref ((AdjGraph *) place->graph);
      node->outer = adj_graph_ref ((AdjGraph *) place->outer);
      node->place = *place;
      return;
    }
  node->file = g_strdup (place->file);
  node->place = (AdjPlace){ .file = node->file, .line = place->line };
}

void
grad_node_set_edges (AdjGradNode *node, const GradEdge *edges, guint n)
{
  node->n_edges = n;
  node->edges = n <= G_N_ELEMENTS (node->few) ? node->few : g_new (GradEdge, n);
  if (n > 0)
    memcpy (node->edges, edges, n * sizeof *edges);
  for (guint i = 0; i < n; i++)
    if (edges[i].node != NULL)
      node->topological = MAX (node->topological, edges[i].node->topological + 1);
}

void
grad_node_set_inputs (AdjGradNode *node, guint n)
{
  node->n_inputs = n;
  node->inputs = g_new0 (AdjTensorMeta, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    node->inputs[i].dtype = ADJ_DTYPE_NONE;
}

const char *
adj_grad_node_get_name (const AdjGradNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);

  return node->name;
}

guint
adj_grad_node_get_n_edges (const AdjGradNode *node)
{
  g_return_val_if_fail (node != NULL, 0);

  return node->n_edges;
}

AdjGradNode *
adj_grad_node_get_edge (const AdjGradNode *node, guint edge, guint *input)
{
  g_return_val_if_fail (node != NULL && edge < node->n_edges, NULL);

  if (input != NULL)
    *input = node->edges[edge].input;
  return node->edges[edge].node;
}

gboolean
grad_any_defined (AdjTensor *const *grads, guint n)
{
  for (guint i = 0; i < n; i++)
    if (grads[i] != NULL)
      return TRUE;
  return FALSE;
}
