/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "call/adj-op-internal.h"
#include "exec/comparing-private.h"
#include "exec/judge-private.h"
#include "exec/noise-private.h"
#include "exec/rounding-private.h"
#include "ops/adj-ops.h"

/* The node that stands for result @item of @node: itself, or the getitem that takes it out. */
static AdjNodeId
node_of_item (const AdjGraph *graph, guint index, gboolean single, guint item)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  for (guint i = 0; !single && i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, node->users[i].index);

      if (g_str_equal (user->target, "operator.getitem") &&
          user->args.items[1].kind == ADJ_VALUE_INT && user->args.items[1].integer == item)
        return node->users[i];
    }
  return single ? (AdjNodeId){ index } : ADJ_NO_NODE;
}

static gboolean
widen_input (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;

  if (leaf->kind == ADJ_VALUE_NODE)
    {
      guint holder = written_get_holder (comparing->written, leaf->node.index);

      return holder != WRITTEN_UNKNOWN &&
             adj_value_map (&comparing->candidate[holder], widen_input, comparing, out);
    }
  if (leaf->kind != ADJ_VALUE_DATA)
    *out = adj_value_copy (leaf);
  else if (!adj_dtype_is_floating (adj_tensor_data_get_meta (leaf->data)->dtype))
    *out = ADJ_TENSOR (adj_tensor_new_from_data (leaf->data));
  else
    {
      g_autoptr (AdjTensorData) wide = adj_tensor_data_cast_storage (leaf->data, ADJ_DTYPE_F64);

      if (comparing->moving)
        {
          g_autoptr (AdjTensorData) moved =
              noise_move_tensor (wide, adj_tensor_data_get_meta (leaf->data)->dtype,
                                 (guint64) comparing->n_moved++ << 40);

          *out = ADJ_TENSOR (adj_tensor_new_from_data (moved));
        }
      else
        *out = ADJ_TENSOR (adj_tensor_new_from_data (wide));
    }
  return TRUE;
}

static gboolean
export_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  *out = leaf->kind == ADJ_VALUE_TENSOR ? ADJ_DATA (adj_tensor_snapshot (leaf->tensor))
                                        : adj_value_copy (leaf);
  return TRUE;
}

/* Calls what @node calls in float64 on what the candidate fed it; none where that is not known any
 * more or draws random numbers, which are not those that the candidate drew.  @limit: what rounding
 * in float64 allows. */
static AdjValue
recompute (Comparing *comparing, const AdjNode *node, double *limit)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_auto (AdjValue) args = ADJ_NONE;
  g_auto (AdjValue) kwargs = ADJ_NONE;
  g_auto (AdjValue) result = ADJ_NONE;
  AdjValue exported = ADJ_NONE;
  guint8 before[ADJ_GENERATOR_STATE_BYTES], after[ADJ_GENERATOR_STATE_BYTES];

  adj_generator_get_state (adj_context_get_generator (cx), before);
  *limit = 0;
  adj_context_push_mode (cx, adj_float64_mode_new ());
  adj_context_push_mode (cx, rounding_mode_new (limit));
  adj_scope_begin (cx);
  if (adj_value_map (&node->args, widen_input, comparing, &args) &&
      adj_value_map (&node->kwargs, widen_input, comparing, &kwargs) &&
      adj_interpret_call (cx, node, &args, &kwargs, &result))
    {
      adj_generator_get_state (adj_context_get_generator (cx), after);
      if (memcmp (before, after, sizeof before) == 0)
        adj_value_map (&result, export_leaf, NULL, &exported);
    }
  adj_scope_end (cx);
  adj_context_take_error (cx, NULL);
  return exported;
}

/* What roundings of its inputs do to result @item of @node, which is @exact without. */
static double
measure_local_noise (Comparing *comparing,
                     const AdjNode *node,
                     const AdjTensorData *exact,
                     guint item)
{
  g_auto (AdjValue) recomputed = ADJ_NONE;
  g_autoptr (GPtrArray) moved = NULL;
  double limit;

  if (exact == NULL)
    return 0;
  comparing->moving = TRUE;
  comparing->n_moved = 0;
  recomputed = recompute (comparing, node, &limit);
  comparing->moving = FALSE;
  moved = judge_tensors (&recomputed);
  return noise_distance (exact, judge_nth (moved, item));
}

static void
judge_inputs (const Comparing *comparing, const AdjNode *node, AdjValueComparison *out)
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

/* The verdict on what an alias looks at. */
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

/* Of several results of a node, the one that decides. */
static void
take_worse (AdjValueComparison *worst, const AdjValueComparison *value)
{
  if (worst->verdict == ADJ_VERDICT_SKIPPED ||
      (value->verdict != ADJ_VERDICT_SKIPPED && value->verdict > worst->verdict) ||
      (value->verdict == worst->verdict && worse (value->local, worst->local)))
    *worst = *value;
}

/* Whether @node makes @dtype of a wider value, which an operator that computes nothing rounds. */
static gboolean
narrows (const Comparing *comparing, const AdjNode *node, AdjDType dtype)
{
  for (guint k = 0; k < node->n_inputs && adj_dtype_is_floating (dtype); k++)
    {
      g_autoptr (GPtrArray) inputs = judge_tensors (&comparing->candidate[node->inputs[k].index]);

      for (guint i = 0; i < inputs->len; i++)
        {
          AdjDType wide =
              inputs->pdata[i] != NULL ? adj_tensor_data_get_meta (inputs->pdata[i])->dtype : dtype;

          if (adj_dtype_is_floating (wide) &&
              adj_dtype_unit_roundoff (wide) < adj_dtype_unit_roundoff (dtype))
            return TRUE;
        }
    }
  return FALSE;
}

/* Result @item of node @index, where rounding in float64 allows the local error @limit; SKIPPED
 * when it is no tensor. */
static AdjValueComparison
compare_item (Comparing *comparing, guint index, guint item, const Leaf *found, double limit)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);
  gboolean single = comparing->candidate[index].kind == ADJ_VALUE_DATA;
  AdjNodeId stands = node_of_item (comparing->graph, index, single, item);
  AdjValueComparison value = {
    .node = { index }, .local = NAN, .accumulated = NAN, .peer = NAN, .verdict = ADJ_VERDICT_SKIPPED
  };
  Leaf leaf = *found;
  AdjTensorData *recorded = comparing_get_expected (comparing, stands, TRUE);
  AdjDType dtype;

  if (leaf.candidate == NULL)
    return value;
  dtype = adj_tensor_data_get_meta (leaf.candidate)->dtype;
  if (narrows (comparing, node, dtype))
    limit += adj_band_limit (ADJ_BAND_ROUNDED, ADJ_DTYPE_F64, 1);
  leaf.peer = comparing_get_expected (comparing, stands, FALSE);
  value.alone = leaf.peer == NULL;
  leaf.own_truth = recorded == NULL;
  if (recorded != NULL)
    leaf.truth = recorded;
  compare_leaf (comparing->request, &leaf,
                limit * adj_dtype_unit_roundoff (dtype) / adj_dtype_unit_roundoff (ADJ_DTYPE_F64),
                &value);
  if (comparing->request->beside != NULL && adj_node_id_is_valid (stands) &&
      (value.difference.max_abs > 0 || value.difference.n_class_mismatch > 0))
    comparing->request->beside (stands, leaf.peer != NULL ? leaf.peer : leaf.truth,
                                comparing->request->data);
  if (leaf.peer == NULL && comparing_is_alias (node))
    {
      value.alone = comparing->alone[node->inputs[0].index];
      if (value.verdict != ADJ_VERDICT_DIFFERS)
        value.verdict = verdict_of_base (comparing, node);
    }
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

/* Whether @node hands on memory that nobody wrote: it takes some, and computes nothing. */
static gboolean
hands_on_unset (const Comparing *comparing, const AdjNode *node)
{
  if (!comparing_is_alias (node) && (node->op == NULL || node->op->band != ADJ_BAND_EXACT))
    return FALSE;
  for (guint k = 0; k < node->n_inputs; k++)
    if (comparing->unset[node->inputs[k].index])
      return TRUE;
  return FALSE;
}

/* What was filled from several sides is judged when it is whole: until then it differs in what is
 * not written yet, and no more is told of it. */
static void
judge_unset (Comparing *comparing, const AdjNode *node, guint index, AdjValueComparison *out)
{
  if (out->verdict <= ADJ_VERDICT_WITHIN || !hands_on_unset (comparing, node))
    return;
  comparing->unset[index] = TRUE;
  out->verdict = ADJ_VERDICT_SKIPPED;
}

static gboolean
compare_node (Comparing *comparing, guint index, AdjValueComparison *out)
{
  const AdjNode *node = adj_graph_get_node (comparing->graph, index);
  g_autoptr (GPtrArray) candidates = judge_tensors (&comparing->candidate[index]);
  g_autoptr (GPtrArray) truths = judge_tensors (&comparing->truth[index]);
  g_autofree AdjValueComparison *values = g_new0 (AdjValueComparison, candidates->len + 1);
  g_auto (AdjValue) recomputed = ADJ_NONE;
  g_autoptr (GPtrArray) locals = NULL;
  gboolean alone = TRUE;
  double limit = 0;

  if (candidates->len == 0 || node->opcode == ADJ_OPCODE_OUTPUT ||
      node->opcode == ADJ_OPCODE_PLACEHOLDER)
    return FALSE;
  *out = (AdjValueComparison){
    .node = { index }, .local = NAN, .accumulated = NAN, .peer = NAN, .verdict = ADJ_VERDICT_SKIPPED
  };
  judge_inputs (comparing, node, out);
  if (node->op != NULL && (node->op->flags & ADJ_OP_NO_COMPARE))
    {
      comparing->unset[index] = TRUE;
      return TRUE;
    }
  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
    recomputed = recompute (comparing, node, &limit);
  locals = judge_tensors (&recomputed);
  for (guint i = 0; i < candidates->len; i++)
    {
      Leaf found = { .candidate = candidates->pdata[i],
                     .truth = judge_nth (truths, i),
                     .local = judge_nth (locals, i) };

      values[i] = compare_item (comparing, index, i, &found, limit);
      if (values[i].verdict == ADJ_VERDICT_DIFFERS)
        {
          found.local_noise = measure_local_noise (comparing, node, found.local, i);
          found.noise = comparing_measure_noise (comparing, index, i);
          values[i] = compare_item (comparing, index, i, &found, limit);
        }
      values[i].inputs_agree = out->inputs_agree;
      values[i].inputs_alone = out->inputs_alone;
      alone = alone && values[i].alone;
      if (found.candidate != NULL)
        take_worse (out, &values[i]);
    }
  out->alone = alone;
  judge_unset (comparing, node, index, out);
  if (candidates->len > 1)
    remember_items (comparing, index, values, candidates->len);
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
      written_pass (comparing->written, i);
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
