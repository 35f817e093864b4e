/* SPDX-License-Identifier: MIT */
/* The candidate runs once with every value kept; the float64 run gives the truth where none was
 * recorded; each operator is then called once more in float64 on the candidate's own inputs.  A
 * value differs when its local error leaves the band of its operator, when it lies further from the
 * truth than the peer by more than the allowed ratio, or when the peer is so far from our own
 * float64 run that it must have computed something else.  A value for which one of these holds is
 * judged again by what rounding alone does to it, which a third run tells. */

#include "exec/adj-comparison.h"

#include <math.h>

#include "call/adj-op-internal.h"
#include "exec/adj-spill.h"
#include "exec/judge-private.h"
#include "exec/noise-private.h"
#include "exec/rounding-private.h"
#include "exec/written-private.h"
#include "ops/adj-ops.h"

typedef struct
{
  const AdjComparisonRequest *request;
  AdjGraph *graph;
  AdjValue *candidate; /* (owned) result of every node; NONE when it has none */
  AdjValue *truth;     /* (owned) the same in float64 */
  AdjValue *noise;     /* (owned) (nullable): the same with every value moved; made when needed */
  gboolean no_noise;   /* it cannot be made */
  gboolean moving;     /* inputs of the operator that is recomputed are moved */
  guint n_moved;       /* so far */
  AdjValue *filling;   /* which of them the run under way fills */
  AdjSpill *spill;     /* where both are kept */
  GError *full;        /* (owned) (nullable): why a value could not be kept */
  guint done, total;   /* nodes run so far in all runs */
  GCancellable *cancellable; /* (nullable) (unowned) */
  guint8 *verdicts;          /* AdjVerdict of each node */
  gboolean *alone;           /* of each node: nothing was there to lay it beside */
  Written *written;          /* (owned): by the nodes before the one that is compared */
  GHashTable *items;         /* node → GArray of AdjVerdict, of those with several results */
} Comparing;

static gboolean
keep_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;
  AdjTensorData *kept;

  if (leaf->kind != ADJ_VALUE_DATA)
    {
      *out = adj_value_copy (leaf);
      return TRUE;
    }
  kept = adj_spill_take (comparing->spill, leaf->data, &comparing->full);
  if (kept != NULL)
    *out = ADJ_DATA (kept);
  return kept != NULL;
}

static gboolean
keep_value (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Comparing *comparing = data;

  if (!adj_value_map (value, keep_leaf, comparing, &comparing->filling[id.index]))
    return FALSE;
  comparing->done++;
  if (comparing->request->progress != NULL)
    comparing->request->progress (comparing->done, comparing->total, comparing->request->data);
  return TRUE;
}

static gboolean
replace_value (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;

  return comparing->request->replace (id, value, out, comparing->request->data);
}

/* Whether the result of @node is memory of its first input, so that it computes nothing. */
static gboolean
is_alias (const AdjNode *node)
{
  if (node->n_inputs == 0)
    return FALSE;
  return node->op != NULL ? adj_schema_is_view (adj_op_get_schema (node->op))
                          : g_str_equal (node->target, "operator.getitem");
}

/* What is memory of another value moves with that. */
static gboolean
move_value (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;
  const AdjNode *node = adj_graph_get_node (comparing->graph, id.index);

  if (is_alias (node) || (node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0))
    return FALSE;
  return noise_move (id, value, &comparing->candidate[id.index], out);
}

static gboolean
run_keeping (Comparing *comparing, AdjValue *filling, AdjRunResult *result, GError **error)
{
  gboolean float64 = filling != comparing->candidate;
  const AdjComparisonRequest *request = comparing->request;
  AdjRunRequest run = {
    .graph = request->graph,
    .inputs = request->inputs,
    .n_inputs = request->n_inputs,
    .rng = request->rng,
    .float64 = float64,
    .tap = keep_value,
    .replace = filling == comparing->noise            ? move_value
               : request->replace != NULL && !float64 ? replace_value
                                                      : NULL,
    .data = comparing,
  };
  const AdjExecutor *executor = request->executor;

  if (executor == NULL || float64)
    executor = adj_executor_find ("interpreter", error);
  comparing->filling = filling;
  if (executor == NULL || adj_executor_run (executor, &run, result, comparing->cancellable, error))
    return executor != NULL;
  if (comparing->full != NULL)
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&comparing->full));
    }
  return FALSE;
}

static gpointer
nth (const GPtrArray *array, guint index)
{
  return index < array->len ? array->pdata[index] : NULL;
}

/* What rounding does to result @item of node @index: an L2 norm, 0 where it cannot be told. */
static double
measure_noise (Comparing *comparing, guint index, guint item)
{
  g_autoptr (GPtrArray) truths = NULL;
  g_autoptr (GPtrArray) moved = NULL;
  AdjRunResult result = { 0 };
  guint n = adj_graph_get_n_nodes (comparing->graph);

  if (comparing->noise == NULL && !comparing->no_noise)
    {
      comparing->noise = g_new0 (AdjValue, n);
      comparing->total += n;
      comparing->no_noise = !run_keeping (comparing, comparing->noise, &result, NULL);
      adj_run_result_clear (&result);
    }
  if (comparing->no_noise)
    return 0;
  truths = judge_tensors (&comparing->truth[index]);
  moved = judge_tensors (&comparing->noise[index]);
  return noise_distance (nth (truths, item), nth (moved, item));
}

static AdjTensorData *
expected_node (const AdjComparisonRequest *request, AdjNodeId id, gboolean float64)
{
  if (request->expected_node == NULL || !adj_node_id_is_valid (id))
    return NULL;
  return request->expected_node (id, float64, request->data);
}

/* -- nodes -- */

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
  return noise_distance (exact, nth (moved, item));
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
  AdjTensorData *recorded = expected_node (comparing->request, stands, TRUE);
  AdjDType dtype;

  if (leaf.candidate == NULL)
    return value;
  dtype = adj_tensor_data_get_meta (leaf.candidate)->dtype;
  if (narrows (comparing, node, dtype))
    limit += adj_band_limit (ADJ_BAND_ROUNDED, ADJ_DTYPE_F64, 1);
  leaf.peer = expected_node (comparing->request, stands, FALSE);
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
  if (leaf.peer == NULL && is_alias (node))
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
    return TRUE;
  if (node->opcode == ADJ_OPCODE_CALL_FUNCTION)
    recomputed = recompute (comparing, node, &limit);
  locals = judge_tensors (&recomputed);
  for (guint i = 0; i < candidates->len; i++)
    {
      Leaf found = { .candidate = candidates->pdata[i],
                     .truth = nth (truths, i),
                     .local = nth (locals, i) };

      values[i] = compare_item (comparing, index, i, &found, limit);
      if (values[i].verdict == ADJ_VERDICT_DIFFERS)
        {
          found.local_noise = measure_local_noise (comparing, node, found.local, i);
          found.noise = measure_noise (comparing, index, i);
          values[i] = compare_item (comparing, index, i, &found, limit);
        }
      values[i].inputs_agree = out->inputs_agree;
      values[i].inputs_alone = out->inputs_alone;
      alone = alone && values[i].alone;
      if (found.candidate != NULL)
        take_worse (out, &values[i]);
    }
  out->alone = alone;
  if (candidates->len > 1)
    remember_items (comparing, index, values, candidates->len);
  return TRUE;
}

static gboolean
compare_nodes (Comparing *comparing, AdjComparison *comparison, GError **error)
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

/* -- outputs -- */

typedef struct
{
  Comparing *comparing;
  GPtrArray *expected; /* of tensors, %NULL for other leaves */
  GPtrArray *candidates;
  AdjComparison *comparison;
} Outputs;

static gboolean
compare_output (const AdjValue *leaf, gpointer data)
{
  Outputs *outputs = data;
  guint position = outputs->comparison->n_outputs++;
  AdjValueComparison *value = &outputs->comparison->outputs[position];
  AdjTensorData *recorded = nth (outputs->expected, position);
  AdjTensorData *truth = NULL;
  Leaf pair = { .candidate = nth (outputs->candidates, position), .peer = recorded };

  *value = (AdjValueComparison){
    .node = ADJ_NO_NODE,
    .output = position,
    .local = NAN,
    .accumulated = NAN,
    .peer = NAN,
    .inputs_agree = TRUE,
  };
  value->verdict = ADJ_VERDICT_SKIPPED;
  if (leaf->kind == ADJ_VALUE_NODE)
    {
      const AdjValue *ours = &outputs->comparing->truth[leaf->node.index];

      value->node = leaf->node;
      truth = expected_node (outputs->comparing->request, leaf->node, TRUE);
      pair.truth = truth != NULL ? truth : ours->kind == ADJ_VALUE_DATA ? ours->data : NULL;
      pair.own_truth = truth == NULL;
    }
  value->alone =
      pair.candidate != NULL && pair.peer == NULL && outputs->comparing->request->partial;
  if (value->alone)
    return TRUE;
  if (pair.candidate == NULL || pair.peer == NULL)
    {
      value->verdict = pair.candidate == pair.peer ? ADJ_VERDICT_EQUAL : ADJ_VERDICT_DIFFERS;
      return TRUE;
    }
  compare_leaf (outputs->comparing->request, &pair, 0, value);
  if (value->verdict == ADJ_VERDICT_DIFFERS && leaf->kind == ADJ_VALUE_NODE)
    {
      pair.noise = measure_noise (outputs->comparing, leaf->node.index, 0);
      compare_leaf (outputs->comparing->request, &pair, 0, value);
    }
  return TRUE;
}

static gboolean
count_leaf (const AdjValue *leaf, gpointer data)
{
  (*(guint *) data)++;
  return TRUE;
}

static gboolean
compare_outputs (Comparing *comparing,
                 const AdjRunResult *result,
                 AdjComparison *comparison,
                 GError **error)
{
  const AdjValue *returned =
      &adj_graph_get_node (comparing->graph, adj_graph_get_output (comparing->graph).index)
           ->args.items[0];
  g_autoptr (GPtrArray) expected = judge_tensors (comparing->request->expected);
  g_autoptr (GPtrArray) candidates = judge_tensors (&result->output);
  Outputs outputs = { comparing, expected, candidates, comparison };
  guint n = 0;

  adj_value_foreach (returned, count_leaf, &n);
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

static AdjVerdict
worst_verdict (const AdjValueComparison *values, guint n, AdjVerdict worst)
{
  for (guint i = 0; i < n; i++)
    if (values[i].verdict != ADJ_VERDICT_SKIPPED)
      worst = MAX (worst, values[i].verdict);
  return worst;
}

/* Runs both.  When the candidate breaks down half-way, what it computed until then is judged
 * nevertheless: the cause is often a value that differs long before. */
static gboolean
run_both (Comparing *comparing, AdjRunResult *result, AdjComparison *comparison, GError **error)
{
  g_autoptr (GError) failure = NULL;
  AdjRunResult truth = { 0 };
  gboolean done = run_keeping (comparing, comparing->candidate, result, &failure);

  if (!done &&
      (!comparing->request->nodes || comparing->done == 0 || failure->domain == G_IO_ERROR ||
       g_error_matches (failure, ADJ_ERROR, ADJ_ERROR_MEMORY)))
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
  if (!done)
    comparison->failure = g_steal_pointer (&failure);
  done = run_keeping (comparing, comparing->truth, &truth, comparison->failure ? NULL : error);
  adj_run_result_clear (&truth);
  return done ||
         (comparison->failure != NULL && !g_cancellable_is_cancelled (comparing->cancellable));
}

static gboolean
compare (Comparing *comparing, AdjComparison *comparison, GError **error)
{
  const AdjComparisonRequest *request = comparing->request;
  AdjRunResult result = { 0 };
  gboolean done;

  done = run_both (comparing, &result, comparison, error) &&
         (request->expected == NULL || comparison->failure != NULL ||
          compare_outputs (comparing, &result, comparison, error)) &&
         (!request->nodes || compare_nodes (comparing, comparison, error));
  adj_run_result_clear (&result);
  if (done && comparison->failure != NULL && comparison->first < 0)
    {
      g_propagate_error (error, g_steal_pointer (&comparison->failure));
      return FALSE;
    }
  comparison->verdict =
      worst_verdict (comparison->outputs, comparison->n_outputs, ADJ_VERDICT_EQUAL);
  comparison->verdict = worst_verdict (comparison->nodes, comparison->n_nodes, comparison->verdict);
  return done;
}

AdjComparison *
adj_comparison_run (const AdjComparisonRequest *request, GCancellable *cancellable, GError **error)
{
  guint n = adj_graph_get_n_nodes (request->graph);
  Comparing comparing = { .request = request, .graph = request->graph, .total = 2 * n };
  g_autoptr (AdjComparison) comparison = g_new0 (AdjComparison, 1);
  gboolean done;

  comparison->first = -1;
  comparing.candidate = g_new0 (AdjValue, n);
  comparing.truth = g_new0 (AdjValue, n);
  comparing.verdicts = g_new0 (guint8, n);
  comparing.alone = g_new0 (gboolean, n);
  comparing.written = written_new (request->graph);
  comparing.items = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  comparing.spill = adj_spill_new (request->keep_memory);
  comparing.cancellable = cancellable;
  comparing.no_noise = !noise_applies (request->graph);
  done = compare (&comparing, comparison, error);
  comparison->spilled = adj_spill_get_spilled (comparing.spill);
  for (guint i = 0; i < n; i++)
    {
      adj_value_clear (&comparing.candidate[i]);
      adj_value_clear (&comparing.truth[i]);
      if (comparing.noise != NULL)
        adj_value_clear (&comparing.noise[i]);
    }
  g_free (comparing.candidate);
  g_free (comparing.truth);
  g_free (comparing.noise);
  g_free (comparing.verdicts);
  g_free (comparing.alone);
  written_free (comparing.written);
  g_hash_table_unref (comparing.items);
  adj_spill_free (comparing.spill);
  return done ? g_steal_pointer (&comparison) : NULL;
}

void
adj_comparison_free (AdjComparison *comparison)
{
  g_free (comparison->outputs);
  g_free (comparison->nodes);
  g_clear_error (&comparison->failure);
  g_free (comparison);
}
