/* SPDX-License-Identifier: MIT */
/* Findings of the metadata pass about hooks on views of inputs, which a view recreated for the
 * caller would lose. */

#include "aot/collect-private.h"

#include "autograd/adj-autograd.h"
#include "autograd/adj-hook-internal.h"

/* Whether @node has hooks; hooks that the history of an input had before the call were taken off.
 */
static gboolean
is_hooked (const AdjGradNode *node)
{
  return node != NULL && adj_grad_node_has_hooks (node);
}

gboolean
aot_collection_is_hooked_since (const AotCollection *collection, guint i)
{
  for (AdjGradNode *node = adj_tensor_get_grad_node (collection->inputs[i].tensor);
       node != NULL && node != collection->nodes[i] && adj_grad_node_get_n_edges (node) > 0;
       node = adj_grad_node_get_edge (node, 0, NULL))
    if (is_hooked (node))
      return TRUE;
  return FALSE;
}

static void
refresh (AdjContext *cx, AdjTensor *tensor)
{
  adj_grad_node_unref (adj_tensor_get_grad_edge (cx, tensor, NULL));
  adj_context_take_error (cx, NULL);
}

gboolean
aot_collection_has_hooked_views (const AotCollection *collection, AdjTensor *tensor)
{
  AdjTensor *base = adj_tensor_get_base (tensor);
  const AdjGradNode *end = base != NULL ? adj_tensor_get_grad_node (base) : NULL;

  if (base == NULL)
    return FALSE;
  refresh (collection->cx, tensor);
  for (AdjGradNode *node = adj_tensor_get_grad_node (tensor);
       node != NULL && node != end && adj_grad_node_get_n_edges (node) > 0;
       node = adj_grad_node_get_edge (node, 0, NULL))
    if (is_hooked (node))
      return TRUE;
  return FALSE;
}

gboolean
aot_collection_follow_views (const AotCollection *collection,
                             AdjTensor *tensor,
                             AdjAotOutput *output)
{
  AdjTensor *base = adj_tensor_get_base (tensor);
  const AdjGradNode *end = base != NULL ? adj_tensor_get_grad_node (base) : NULL;
  const AdjGradNode *first =
      output->type == ADJ_OUTPUT_ALIAS_OF_INPUT ? collection->nodes[output->base] : NULL;
  AdjGradNode *node;

  refresh (collection->cx, tensor);
  node = adj_tensor_get_grad_node (tensor);
  output->n_recorded = 0;
  for (; node != NULL && node != end && node != first && adj_grad_node_get_n_edges (node) > 0;
       node = adj_grad_node_get_edge (node, 0, NULL))
    {
      if (is_hooked (node))
        return FALSE;
      output->n_recorded++;
    }
  if (!adj_tensor_get_requires_grad (tensor) || (base != NULL && node != NULL && node == end) ||
      (node != NULL && node == first) || (node != NULL && adj_grad_node_is_of_leaf (node, base)))
    {
      /* as_strided of a written tensor is recorded as one step from its base. */
      if (base != NULL && node == end && adj_view_chain_has_late_as_strided (output->recipe) &&
          output->n_recorded < adj_view_chain_get_n_steps (output->recipe))
        g_clear_pointer (&output->recipe, adj_view_chain_unref);
      output->n_recorded = G_MAXUINT;
    }
  return TRUE;
}

/* Whether input @i is a view that got hooks; bumping the version of its storage would drop them. */
static gboolean
is_hooked_view (const AotCollection *collection, guint i)
{
  return AOT_ARGUMENT (collection->program, i)->base >= 0 &&
         aot_input_has_hooks (collection->program, i);
}

gboolean
aot_collection_shows_hooked_view (const AotCollection *collection, const AdjAotOutput *output)
{
  const AdjAotInput *input;

  if (output->type != ADJ_OUTPUT_ALIAS_OF_INPUT || !output->requires_grad)
    return FALSE;
  input = &collection->metadata->inputs[output->base];
  return input->counted && !input->mutates_data &&
         is_hooked_view (collection, (guint) output->base);
}

gboolean
aot_collection_loses_hooks (const AotCollection *collection, guint i)
{
  const AdjAotInput *inputs = collection->metadata->inputs;
  const AdjTensorMeta *meta = aot_argument_meta (AOT_ARGUMENT (collection->program, i));
  AdjTensor *tensor = collection->inputs[i].tensor;
  AdjFunctionalState observed;

  if (!is_hooked_view (collection, i))
    return FALSE;
  aot_get_functional_state (tensor, &observed);
  if (!inputs[i].mutates_data && adj_tensor_get_version (tensor) > observed.n_turns)
    return TRUE;
  for (guint k = 0; k < collection->n; k++)
    {
      const AdjTensorMeta *other = aot_argument_meta (AOT_ARGUMENT (collection->program, k));

      if (other != NULL && other->storage == meta->storage && inputs[k].counted &&
          collection->inputs[k].tensor != tensor)
        return TRUE;
    }
  return FALSE;
}
