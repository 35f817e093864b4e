/* SPDX-License-Identifier: MIT */
/* Compares the values of all nodes, and finds the first that differs on inputs that agree. */

#include <gio/gio.h>
#include <math.h>

#include "call/adj-op-internal.h"
#include "exec/comparing-private.h"
#include "exec/generator-state-private.h"
#include "exec/operation-private.h"
#include "exec/verdict-private.h"
#include "ir/adj-graph.h"

static AdjValueComparison
compare_nothing (guint index)
{
  return (AdjValueComparison){ .node = { index },
                               .own = ADJ_DEVIATION_NONE,
                               .peer_own = ADJ_DEVIATION_NONE,
                               .accumulated = NAN,
                               .peer = NAN,
                               .accumulated_limit = NAN,
                               .peer_limit = NAN,
                               .perturbation = NAN,
                               .verdict = ADJ_VERDICT_SKIPPED };
}

static gboolean
has_tensor (const AdjValue *value)
{
  g_autoptr (GPtrArray) tensors = list_tensors (value);

  return tensors->len > 0;
}

static void
verdict_of_inputs (const Comparing *comparing, const AdjNode *node, AdjValueComparison *out)
{
  gboolean differ = FALSE, alone = FALSE;

  for (guint k = 0; k < node->n_inputs; k++)
    {
      differ = differ || comparing->verdicts[node->inputs[k].index] == ADJ_VERDICT_DIFFERS;
      alone = alone || comparing->alone[node->inputs[k].index];
    }
  out->inputs_alone = alone && !differ;
  out->inputs_agree = !alone && !differ;
}

/* The verdict on the value that an alias shows. */
static AdjVerdict
verdict_of_base (const Comparing *comparing, const AdjNode *node)
{
  guint base = node->inputs[0].index;
  const GArray *items = g_hash_table_lookup (comparing->items, GUINT_TO_POINTER (base));
  const AdjValue *item = node->op == NULL && node->args.n == 2 ? &node->args.items[1] : NULL;

  if (items != NULL && item != NULL && item->kind == ADJ_VALUE_INT && item->integer >= 0 &&
      item->integer < items->len)
    return g_array_index (items, AdjVerdict, item->integer);
  return comparing->verdicts[base];
}

static gboolean
worse (double a, double b)
{
  return !isnan (a) && (isnan (b) || a > b);
}

/* The error of the side that is found wrong; of the candidate where neither is. */
static double
error_of (const AdjValueComparison *value)
{
  return value->cause == ADJ_CAUSE_PEER ? value->peer_own.rel_l2 : value->own.rel_l2;
}

/* Of several results of a node, the one that decides. */
static void
take_worse (AdjValueComparison *worst, const AdjValueComparison *value)
{
  if (worst->verdict == ADJ_VERDICT_SKIPPED ||
      (value->verdict != ADJ_VERDICT_SKIPPED && value->verdict > worst->verdict) ||
      (value->verdict == worst->verdict && worse (error_of (value), error_of (worst))))
    *worst = *value;
}

/* Whether the peer fed every input of @node with the bits that the candidate fed. */
static gboolean
has_same_inputs (const Comparing *comparing, const AdjNode *node)
{
  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint holder = alias_versions_get_holder (comparing->versions, node->inputs[k].index);

      if (holder == ALIAS_VERSIONS_UNKNOWN || !comparing->same[holder])
        return FALSE;
    }
  return TRUE;
}

/* A node under comparison. */
typedef struct
{
  Comparing *comparing;
  guint index;
  const AdjNode *node;
  Operation own, peer;
  NodeRounding rounding;
  AdjValue own_exact, peer_exact;
  GPtrArray *candidates, *truths, *own_exacts, *peer_exacts;
  gboolean inputs_differ;
} Item;

/* Decides without a value to compare with: by the verdict on the inputs. */
static void
verdict_alone (const Item *item, AdjValueComparison *value)
{
  const Comparing *comparing = item->comparing;
  gboolean alias = comparing_is_alias (comparing, item->index);
  AdjVerdict base;

  if (alias)
    value->alone = comparing->alone[item->node->inputs[0].index];
  if (value->verdict == ADJ_VERDICT_DIFFERS)
    return;
  base = alias                 ? verdict_of_base (comparing, item->node)
         : item->inputs_differ ? ADJ_VERDICT_DIFFERS
                               : value->verdict;
  if (base == ADJ_VERDICT_DIFFERS)
    value->cause = ADJ_CAUSE_INPUT;
  value->verdict = base;
}

static const AdjTensorMeta *
meta_of_input (const Item *item, guint index)
{
  const AdjValue *value = &item->comparing->candidate[item->node->inputs[index].index];

  return value->kind == ADJ_VALUE_DATA ? adj_tensor_data_get_meta (value->data) : NULL;
}

/* Whether the node computes in @dtype for a tensor of no dimensions alone, beside others of
 * @other. */
static gboolean
is_widened_by_number (const Item *item, AdjDType dtype, AdjDType other)
{
  gboolean wide = FALSE, narrow = FALSE;

  for (guint k = 0; k < item->node->n_inputs; k++)
    {
      const AdjTensorMeta *meta = meta_of_input (item, k);

      wide |= meta != NULL && meta->dtype == dtype && meta->shape.rank == 0;
      narrow |= meta != NULL && meta->dtype == other;
    }
  return wide && narrow;
}

/* (transfer full) (nullable): @own in the dtype that was recorded: compiled autograd makes tensors
 * of numbers, and its graph has their type, but what runs are the numbers, which decide none. */
static AdjTensorData *
narrow_as_recorded (const Item *item, AdjTensorData *own, AdjTensorData *peer)
{
  AdjDType dtype, recorded;

  if (own == NULL || peer == NULL || item->comparing->request->of_graphs)
    return NULL;
  dtype = adj_tensor_data_get_meta (own)->dtype;
  recorded = adj_tensor_data_get_meta (peer)->dtype;
  if (dtype != ADJ_DTYPE_F64 || recorded != ADJ_DTYPE_F32 ||
      !is_widened_by_number (item, dtype, recorded))
    return NULL;
  return adj_tensor_data_cast (own, recorded);
}

/* Result @k of the node; SKIPPED when it is no tensor.  @perturbed: what rounding does is asked */
static AdjValueComparison
compare_item (const Item *item, guint k, gboolean perturbed)
{
  Comparing *comparing = item->comparing;
  const AdjComparisonRequest *request = comparing->request;
  AdjNodeId stands = comparing_get_item (comparing, item->index, k);
  AdjTensorData *recorded = comparing_get_expected (comparing, stands, TRUE);
  Leaf leaf = {
    .own = { nth_tensor (item->candidates, k), nth_tensor (item->own_exacts, k), &item->own },
    .peer = { comparing_get_expected (comparing, stands, FALSE), nth_tensor (item->peer_exacts, k),
              &item->peer },
    .item = k,
    .coarsest = comparing->coarsest,
    .inputs_differ = item->inputs_differ,
    .truth = recorded != NULL ? recorded : nth_tensor (item->truths, k),
    .own_truth = recorded == NULL,
  };
  AdjValueComparison value = compare_nothing (item->index);
  g_autoptr (AdjTensorData) narrowed = narrow_as_recorded (item, leaf.own.value, leaf.peer.value);

  if (leaf.own.value == NULL)
    return value;
  if (narrowed != NULL)
    leaf.own.value = narrowed;
  if (perturbed)
    comparing_perturb (comparing, item->index, k, &leaf);
  leaf.rounding = rounding_of_result (&item->rounding, adj_tensor_data_get_numel (leaf.own.value));
  value.alone = leaf.peer.value == NULL;
  compare_leaf (request, &leaf, &value);
  comparing_settle_draws (comparing, (AdjNodeId){ item->index }, &value);
  if (request->beside != NULL && adj_node_id_is_valid (stands) &&
      (value.difference.max_abs > 0 || value.difference.n_class_mismatch > 0))
    request->beside (stands, leaf.peer.value != NULL ? leaf.peer.value : leaf.truth, request->data);
  if (leaf.peer.value == NULL)
    verdict_alone (item, &value);
  return value;
}

static void
remember_items (Comparing *comparing, guint index, const AdjValueComparison *values, guint n)
{
  GArray *items = g_array_sized_new (FALSE, FALSE, sizeof (AdjVerdict), n);

  for (guint i = 0; i < n; i++)
    g_array_append_val (items, values[i].verdict);
  g_hash_table_insert (comparing->items, GUINT_TO_POINTER (index), items);
}

/* Calls the operator once more for either side. */
static void
compute_exact (Item *item)
{
  Comparing *comparing = item->comparing;
  NodeRounding of_peer;

  item->own = (Operation){
    .node = item->node,
    .values = comparing->candidate,
    .versions = comparing->versions,
    .release = comparing->request->release,
    .random_source = comparing->request->random_source,
    .drawn = exec_find_dtype (&comparing->candidate[item->index]),
    .state = g_hash_table_lookup (comparing->drawn, GUINT_TO_POINTER (item->index)),
  };
  item->peer = item->own;
  item->peer.values = comparing->peer;
  item->peer.recorded = !comparing->request->of_graphs;
  if (comparing->request->drawn_otherwise != NULL &&
      comparing->request->drawn_otherwise[item->index])
    item->peer.state = NULL;
  if ((item->node->opcode != ADJ_OPCODE_CALL_FUNCTION &&
       item->node->opcode != ADJ_OPCODE_CALL_METHOD) ||
      alias_versions_writes_shared (comparing->versions, item->index))
    return;
  item->own_exact = operation_compute (&item->own, &item->rounding);
  item->rounding.of_steps = comparing->coarsest;
  if (comparing->peer[item->index].kind == ADJ_VALUE_NONE)
    return;
  if (has_same_inputs (comparing, item->node))
    item->peer_exact = adj_value_copy (&item->own_exact);
  else
    item->peer_exact = operation_compute (&item->peer, &of_peer);
}

static void
item_init (Item *item, Comparing *comparing, guint index)
{
  *item = (Item){ .comparing = comparing,
                  .index = index,
                  .node = adj_graph_get_node (comparing->graph, index) };
  compute_exact (item);
  item->candidates = list_tensors (&comparing->candidate[index]);
  item->truths = list_tensors (&comparing->truth[index]);
  item->own_exacts = list_tensors (&item->own_exact);
  item->peer_exacts = list_tensors (&item->peer_exact);
}

static void
item_clear (Item *item)
{
  g_clear_pointer (&item->candidates, g_ptr_array_unref);
  g_clear_pointer (&item->truths, g_ptr_array_unref);
  g_clear_pointer (&item->own_exacts, g_ptr_array_unref);
  g_clear_pointer (&item->peer_exacts, g_ptr_array_unref);
  adj_value_clear (&item->own_exact);
  adj_value_clear (&item->peer_exact);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Item, item_clear)

/* Every result of the node, the worst of them in @out; whether the peer has the same bits. */
static gboolean
compare_items (Item *item, AdjValueComparison *out)
{
  Comparing *comparing = item->comparing;
  g_autofree AdjValueComparison *values = g_new0 (AdjValueComparison, item->candidates->len + 1);
  gboolean alone = TRUE, same = TRUE;

  for (guint i = 0; i < item->candidates->len; i++)
    {
      values[i] = compare_item (item, i, FALSE);
      if (values[i].cause == ADJ_CAUSE_FURTHER || values[i].cause == ADJ_CAUSE_OTHER ||
          values[i].cause == ADJ_CAUSE_CLASS)
        values[i] = compare_item (item, i, TRUE);
      values[i].inputs_agree = out->inputs_agree;
      values[i].inputs_alone = out->inputs_alone;
      alone = alone && values[i].alone;
      same = same && !values[i].alone && values[i].verdict == ADJ_VERDICT_EQUAL;
      if (item->candidates->pdata[i] != NULL)
        take_worse (out, &values[i]);
    }
  out->alone = alone;
  if (item->candidates->len > 1)
    remember_items (comparing, item->index, values, item->candidates->len);
  return same;
}

/* Whether the node gives uninitialised memory, by any operator. */
static gboolean
gives_unset (const Item *item)
{
  const AdjOp *op = item->node->op != NULL ? item->node->op : rounding_get_op (&item->rounding);

  return op != NULL && (op->flags & ADJ_OP_NO_COMPARE) != 0;
}

/* Whether the node passes on uninitialised memory: it takes some, computes nothing, and gives
 * something else where something else is there.  What is filled does not. */
static gboolean
hands_on_unset (const Item *item)
{
  const Comparing *comparing = item->comparing;
  gboolean alias = comparing_is_alias (comparing, item->index);

  if (!alias && (item->node->op == NULL || item->node->op->band != ADJ_BAND_EXACT))
    return FALSE;
  for (guint k = 0; k < item->node->n_inputs; k++)
    if (comparing->unset[item->node->inputs[k].index])
      return alias || operation_reads_unset (&item->own, comparing->unset);
  return FALSE;
}

/* Skips a value that differs where it passes on uninitialised memory: a tensor that is filled in
 * parts is compared when it is whole. */
static void
verdict_of_unset (const Item *item, AdjValueComparison *out)
{
  if (out->verdict <= ADJ_VERDICT_WITHIN || !hands_on_unset (item))
    return;
  item->comparing->unset[item->index] = TRUE;
  out->verdict = ADJ_VERDICT_SKIPPED;
}

static gboolean
compare_node (Comparing *comparing, guint index, AdjValueComparison *out)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);
  g_auto (Item) item = { 0 };

  comparing_note_peer (comparing, index);
  if (!has_tensor (&comparing->candidate[index]) || node->opcode == ADJ_OPCODE_OUTPUT ||
      node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return FALSE;
  *out = compare_nothing (index);
  verdict_of_inputs (comparing, node, out);
  item_init (&item, comparing, index);
  if (gives_unset (&item))
    {
      comparing->unset[index] = TRUE;
      return TRUE;
    }
  item.inputs_differ = !out->inputs_agree && !out->inputs_alone;
  comparing->same[index] = compare_items (&item, out) || comparing->same[index];
  verdict_of_unset (&item, out);
  return TRUE;
}

gboolean
comparing_compare_nodes (Comparing *comparing, AdjComparison *comparison, GError **error)
{
  guint n = adj_graph_get_n_nodes (comparing->graph);

  comparison->nodes = g_new0 (AdjValueComparison, n);
  for (guint i = 0; i < n; i++)
    {
      AdjValueComparison *value = &comparison->nodes[comparison->n_nodes];
      gboolean is_compared;

      if (g_cancellable_set_error_if_cancelled (comparing->cancellable, error))
        return FALSE;
      is_compared = compare_node (comparing, i, value);
      alias_versions_pass (comparing->versions, i);
      if (!is_compared)
        continue;
      comparing->verdicts[i] = (guint8) value->verdict;
      comparing->alone[i] = value->alone;
      if (value->verdict == ADJ_VERDICT_DIFFERS && comparison->first < 0)
        comparison->first = (gint) comparison->n_nodes;
      comparison->n_nodes++;
    }
  return TRUE;
}
