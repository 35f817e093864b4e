/* SPDX-License-Identifier: MIT */
#include "exec/comparing-private.h"
#include "exec/operation-private.h"

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
  gboolean missing; /* a tensor was not recorded */
} Taking;

static gboolean
take_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Taking *taking = data;
  AdjTensorData *found;

  found = comparing_get_expected (
      taking->comparing, comparing_get_item (taking->comparing, taking->index, taking->item++),
      FALSE);
  if (leaf->kind != ADJ_VALUE_DATA)
    *out = adj_value_copy (leaf);
  else if (found != NULL)
    *out = ADJ_DATA (adj_tensor_data_ref (found));
  else
    {
      *out = ADJ_NONE;
      taking->missing = TRUE;
    }
  return TRUE;
}

/* What it gives is known from what it gets. */
static gboolean
computes_nothing (const AdjNode *node)
{
  return node->op != NULL && node->op->band == ADJ_BAND_EXACT && adj_op_is_pure (node->op) &&
         (node->op->flags & ADJ_OP_NO_COMPARE) == 0;
}

void
comparing_note_peer (Comparing *comparing, guint index)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);
  Taking taking = { comparing, index, 0, FALSE };
  AdjValue *peer = &comparing->peer[index];

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_GET_ATTR)
    {
      *peer = adj_value_copy (&comparing->candidate[index]);
      comparing->same[index] = TRUE;
      return;
    }
  adj_value_map (&comparing->candidate[index], take_leaf, &taking, peer);
  if (taking.missing && (comparing_is_alias (node) || computes_nothing (node)))
    {
      gboolean differs = FALSE;
      Operation operation = { node, comparing->peer, comparing->written };

      adj_value_clear (peer);
      *peer = operation_repeat (&operation);
      for (guint k = 0; k < node->n_inputs; k++)
        differs = differs || !comparing->same[node->inputs[k].index];
      comparing->same[index] = !differs;
    }
}
