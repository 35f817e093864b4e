/* SPDX-License-Identifier: MIT */
/* The peer's values in a comparison; those that were not recorded are computed again. */

#include "call/adj-op.h"
#include "exec/comparing-private.h"
#include "exec/operation-private.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"

AdjNodeId
comparing_get_item (const Comparing *comparing, guint index, guint item)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);

  if (comparing->candidate[index].kind == ADJ_VALUE_DATA)
    return (AdjNodeId){ index };
  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (comparing->graph, node->users[i].index);

      if (g_str_equal (user->target, "operator.getitem") &&
          user->args.items[1].kind == ADJ_VALUE_INT && user->args.items[1].integer == item)
        return node->users[i];
    }
  return ADJ_NO_NODE;
}

typedef struct
{
  const Comparing *comparing;
  guint index, item;
  gboolean keep; /* items that were not recorded keep their given value */
  guint n_found;
  gboolean missing; /* a tensor was not recorded */
} Taking;

/* (transfer full): @recorded with the strides of @candidate: files keep elements in row-major
 * order, and operators that draw for each element do so in the order of the memory. */
static AdjTensorData *
laid_out_like (AdjTensorData *recorded, const AdjTensorData *candidate)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (candidate)->shape;

  return adj_shape_same_sizes (&adj_tensor_data_get_meta (recorded)->shape, shape, NULL)
             ? adj_tensor_data_lay_out (recorded, shape)
             : adj_tensor_data_ref (recorded);
}

static gboolean
take_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Taking *taking = data;
  AdjTensorData *found;

  found = comparing_get_expected (
      taking->comparing, comparing_get_item (taking->comparing, taking->index, taking->item++),
      FALSE);
  taking->n_found += found != NULL;
  if (leaf->kind == ADJ_VALUE_DATA && found != NULL)
    *out = ADJ_DATA (laid_out_like (found, leaf->data));
  else if (leaf->kind != ADJ_VALUE_DATA || taking->keep)
    *out = adj_value_copy (leaf);
  else
    {
      *out = ADJ_NONE;
      taking->missing = TRUE;
    }
  return TRUE;
}

/* Whether the result follows from the inputs without arithmetic. */
static gboolean
computes_nothing (const AdjNode *node)
{
  return node->op != NULL && node->op->band == ADJ_BAND_EXACT && adj_op_is_pure (node->op) &&
         (node->op->flags & ADJ_OP_NO_COMPARE) == 0;
}

static gboolean
gets_the_same (const Comparing *comparing, const AdjNode *node)
{
  for (guint k = 0; k < node->n_inputs; k++)
    if (!comparing->same[node->inputs[k].index])
      return FALSE;
  return TRUE;
}

/* Computes the results of node @index that were not recorded. */
static void
repeat_missing (Comparing *comparing, guint index)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);
  Operation operation = { .node = node,
                          .values = comparing->peer,
                          .versions = comparing->versions,
                          .release = comparing->request->release,
                          .random_source = comparing->request->random_source };
  Taking taking = { .comparing = comparing, .index = index, .keep = TRUE };
  g_auto (AdjValue) repeated = operation_repeat (&operation);

  adj_value_clear (&comparing->peer[index]);
  adj_value_map (&repeated, take_leaf, &taking, &comparing->peer[index]);
  comparing->same[index] = taking.n_found == 0 && gets_the_same (comparing, node);
}

void
comparing_note_peer (Comparing *comparing, guint index)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);
  gboolean unset = node->op != NULL && (node->op->flags & ADJ_OP_NO_COMPARE) != 0;
  /* Uninitialised memory has the candidate's content where nothing was recorded. */
  Taking taking = { .comparing = comparing, .index = index, .keep = unset };
  AdjValue *peer = &comparing->peer[index];

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_GET_ATTR)
    {
      *peer = adj_value_copy (&comparing->candidate[index]);
      comparing->same[index] = TRUE;
      return;
    }
  adj_value_map (&comparing->candidate[index], take_leaf, &taking, peer);
  if (taking.missing && (comparing_is_alias (comparing, index) || computes_nothing (node)))
    repeat_missing (comparing, index);
}
