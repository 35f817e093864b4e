/* SPDX-License-Identifier: MIT */
/* Compares the outputs of a graph, and settles those that no node decides. */

#include <math.h>

#include "exec/comparing-private.h"
#include "exec/verdict-private.h"
#include "ir/adj-graph.h"

typedef struct
{
  Comparing *comparing;
  GPtrArray *expected; /* of tensors, %NULL for other leaves */
  GArray *unrecorded;  /* gboolean of each leaf: there was a tensor that could not be recorded */
  GPtrArray *candidates;
  AdjComparison *comparison;
} Outputs;

static gboolean
compare_output (const AdjValue *leaf, gpointer data)
{
  Outputs *outputs = data;
  guint position = outputs->comparison->n_outputs++;
  AdjValueComparison *value = &outputs->comparison->outputs[position];
  AdjTensorData *recorded = nth_tensor (outputs->expected, position);
  AdjTensorData *truth = NULL;
  Leaf pair = { .own.value = nth_tensor (outputs->candidates, position), .peer.value = recorded };

  *value = (AdjValueComparison){
    .node = ADJ_NO_NODE,
    .output = position,
    .own = ADJ_DEVIATION_NONE,
    .peer_own = ADJ_DEVIATION_NONE,
    .accumulated = NAN,
    .peer = NAN,
    .accumulated_limit = NAN,
    .peer_limit = NAN,
    .perturbation = NAN,
    .inputs_agree = TRUE,
  };
  value->verdict = ADJ_VERDICT_SKIPPED;
  if (leaf->kind == ADJ_VALUE_NODE)
    {
      const AdjValue *ours = &outputs->comparing->truth[leaf->node.index];

      value->node = leaf->node;
      truth = comparing_get_expected (outputs->comparing, leaf->node, TRUE);
      pair.truth = truth != NULL ? truth : ours->kind == ADJ_VALUE_DATA ? ours->data : NULL;
      pair.own_truth = truth == NULL;
    }
  if (pair.own.value != NULL && g_array_index (outputs->unrecorded, gboolean, position))
    return TRUE;
  value->alone =
      pair.own.value != NULL && pair.peer.value == NULL && outputs->comparing->request->partial;
  if (value->alone)
    return TRUE;
  if (pair.own.value == NULL || pair.peer.value == NULL)
    {
      gboolean both = pair.own.value == pair.peer.value;

      value->verdict = both ? ADJ_VERDICT_EQUAL : ADJ_VERDICT_DIFFERS;
      value->cause = both ? ADJ_CAUSE_NONE : ADJ_CAUSE_ABSENT;
      return TRUE;
    }
  pair.coarsest = outputs->comparing->coarsest;
  compare_leaf (outputs->comparing->request, &pair, value);
  comparing_settle_draws (outputs->comparing, value->node, value);
  if (value->verdict == ADJ_VERDICT_DIFFERS && leaf->kind == ADJ_VALUE_NODE)
    {
      comparing_perturb (outputs->comparing, leaf->node.index, 0, &pair);
      compare_leaf (outputs->comparing->request, &pair, value);
    }
  return TRUE;
}

static gboolean
note_unrecorded (const AdjValue *leaf, gpointer data)
{
  gboolean unrecorded = leaf->kind == ADJ_VALUE_RAW;

  g_array_append_val ((GArray *) data, unrecorded);
  return TRUE;
}

static gboolean
count_leaf (const AdjValue *leaf, gpointer data)
{
  (*(guint *) data)++;
  return TRUE;
}

gboolean
comparing_compare_outputs (Comparing *comparing,
                           const AdjRunResult *result,
                           AdjComparison *comparison,
                           GError **error)
{
  const AdjValue *returned =
      &adj_graph_get_node (comparing->graph, adj_graph_get_output (comparing->graph).index)
           ->args.items[0];
  g_autoptr (GPtrArray) expected = list_tensors (comparing->request->expected);
  g_autoptr (GPtrArray) candidates = list_tensors (&result->output);
  g_autoptr (GArray) unrecorded = g_array_new (FALSE, FALSE, sizeof (gboolean));
  Outputs outputs = { comparing, expected, unrecorded, candidates, comparison };
  guint n = 0;

  adj_value_foreach (returned, count_leaf, &n);
  adj_value_foreach (comparing->request->expected, note_unrecorded, unrecorded);
  if (candidates->len != n || expected->len != n)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE,
                   "the graph returns %u values, %u are there to compare with", candidates->len,
                   expected->len);
      return FALSE;
    }
  comparison->outputs = g_new0 (AdjValueComparison, n + 1);
  adj_value_foreach (returned, compare_output, &outputs);
  return TRUE;
}

static const AdjValueComparison *
find_node (const AdjComparison *comparison, AdjNodeId id)
{
  for (guint i = 0; i < comparison->n_nodes; i++)
    if (comparison->nodes[i].node.index == id.index)
      return &comparison->nodes[i];
  return NULL;
}

void
comparing_settle_outputs (Comparing *comparing, AdjComparison *comparison)
{
  g_autoptr (GPtrArray) expected = list_tensors (comparing->request->expected);

  for (guint i = 0; i < comparison->n_outputs; i++)
    {
      AdjValueComparison *output = &comparison->outputs[i];
      const AdjValueComparison *node = NULL;
      const AdjValue *peer;

      if (output->verdict != ADJ_VERDICT_DIFFERS || !adj_node_id_is_valid (output->node) ||
          nth_tensor (expected, i) == NULL)
        continue;
      if (comparing->unset[output->node.index])
        {
          output->verdict = ADJ_VERDICT_SKIPPED; /* uninitialised memory */
          output->cause = ADJ_CAUSE_NONE;
          continue;
        }
      node = find_node (comparison, output->node);
      peer = &comparing->peer[output->node.index];
      if (node == NULL || node->verdict > ADJ_VERDICT_WITHIN || peer->kind != ADJ_VALUE_DATA ||
          !deviation_is_none (peer->data, nth_tensor (expected, i)))
        continue;
      *output = *node;
      output->output = i;
    }
}
