/* SPDX-License-Identifier: MIT */
/* One comparison under way: runs candidate, peer and float64 reference, and keeps the values of
 * their nodes. */

#include <math.h>

#include "analysis/adj-aliases.h"
#include "call/adj-context-internal.h"
#include "call/adj-op-internal.h"
#include "exec/comparing-private.h"
#include "exec/perturbation-private.h"
#include "exec/verdict-private.h"
#include "ir/adj-graph.h"

static void
note_type (Comparing *comparing, AdjDType dtype)
{
  dtype = adj_dtype_get_real (dtype);
  if (adj_dtype_unit_roundoff (dtype) > adj_dtype_unit_roundoff (comparing->coarsest))
    comparing->coarsest = dtype;
}

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
  note_type (comparing, adj_tensor_data_get_meta (leaf->data)->dtype);
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

gboolean
comparing_is_alias (const Comparing *comparing, guint index)
{
  AdjAliasKind kind = adj_graph_get_aliases (comparing->graph)[index].kind;

  return kind == ADJ_ALIAS_VIEW || kind == ADJ_ALIAS_ITEM;
}

/* What an argument of a comparison is in both float64 runs. */
static gboolean
find_compared (const Comparing *comparing, const AdjValue *arg, Compared *out)
{
  *out = (Compared){ .number = arg->kind == ADJ_VALUE_INT     ? (double) arg->integer
                               : arg->kind == ADJ_VALUE_FLOAT ? arg->number
                                                              : NAN };
  if (arg->kind != ADJ_VALUE_NODE)
    return !isnan (out->number);
  if (comparing->truth[arg->node.index].kind != ADJ_VALUE_DATA ||
      comparing->perturbation[arg->node.index].kind != ADJ_VALUE_DATA)
    return FALSE;
  out->unmoved = comparing->truth[arg->node.index].data;
  out->moved = comparing->perturbation[arg->node.index].data;
  /* Rounding decides an answer where it is given, not where answers are combined. */
  return adj_tensor_data_get_meta (out->unmoved)->dtype != ADJ_DTYPE_BOOL;
}

/* Of two numbers: what asks one thing of a tensor does not jump. */
static gboolean
flip_comparison (const Comparing *comparing,
                 const AdjNode *node,
                 const AdjValue *value,
                 AdjValue *out)
{
  Compared a, b;

  if (value->kind != ADJ_VALUE_DATA ||
      adj_tensor_data_get_meta (value->data)->dtype != ADJ_DTYPE_BOOL || node->args.n < 2 ||
      !find_compared (comparing, &node->args.items[0], &a) ||
      !find_compared (comparing, &node->args.items[1], &b))
    return FALSE;
  *out = ADJ_DATA (perturbation_flip (value->data, &a, &b));
  return TRUE;
}

/* Moves the value of a node; an alias moves with the memory it shows. */
static gboolean
move_value (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;
  const AdjNode *node = adj_graph_get_node (comparing->graph, id.index);

  if (comparing_is_alias (comparing, id.index) ||
      (node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0))
    return FALSE;
  if (node->op != NULL && node->op->promote == ADJ_PROMOTE_BOOL)
    return flip_comparison (comparing, node, value, out);
  return perturbation_move (id, value, &comparing->candidate[id.index], &comparing->truth[id.index],
                            out);
}

/* Gives the recorded result of a hook that is missing. */
static gboolean
recall_value (AdjNodeId id, AdjValue *out, gpointer data)
{
  const Comparing *comparing = data;
  const AdjComparisonRequest *request = comparing->request;
  AdjTensorData *expected;

  if (request->recall != NULL)
    return request->recall (id, out, request->data);
  expected = comparing_get_expected (data, id, FALSE);
  if (expected != NULL)
    *out = ADJ_DATA (adj_tensor_data_ref (expected));
  return expected != NULL;
}

static void
note_drawn (AdjNodeId id, const AdjDrawState *state, gpointer data)
{
  Comparing *comparing = data;

  g_hash_table_insert (comparing->drawn, GUINT_TO_POINTER (id.index),
                       g_bytes_new (state, sizeof *state));
}

gboolean
comparing_run (Comparing *comparing, AdjValue *filling, AdjRunResult *result, GError **error)
{
  gboolean float64 = filling != comparing->candidate;
  const AdjComparisonRequest *request = comparing->request;
  AdjRunRequest run = {
    .graph = request->graph,
    .inputs = request->inputs,
    .n_inputs = request->n_inputs,
    .rng = request->rng,
    .random_source = request->random_source,
    .gpu_threads = request->gpu_threads,
    .release = request->release,
    .gpu = float64 ? NULL : request->gpu,
    .float64 = float64,
    .like = float64 ? comparing->candidate : NULL,
    .drew = filling == comparing->truth ? note_drawn : NULL,
    .tap = keep_value,
    .recall = recall_value,
    .replace = filling == comparing->perturbation     ? move_value
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

void
comparing_perturb (Comparing *comparing, guint index, guint item, Leaf *leaf)
{
  g_autoptr (GPtrArray) truths = NULL;
  g_autoptr (GPtrArray) moved = NULL;
  AdjRunResult result = { 0 };
  guint n = adj_graph_get_n_nodes (comparing->graph);

  if (comparing->perturbation == NULL && !comparing->cannot_perturb)
    {
      comparing->perturbation = g_new0 (AdjValue, n);
      comparing->total += n;
      comparing->cannot_perturb =
          !comparing_run (comparing, comparing->perturbation, &result, NULL);
      adj_run_result_clear (&result);
    }
  if (comparing->cannot_perturb)
    return;
  truths = list_tensors (&comparing->truth[index]);
  moved = list_tensors (&comparing->perturbation[index]);
  leaf->unmoved = nth_tensor (truths, item);
  leaf->moved = nth_tensor (moved, item);
}

typedef struct
{
  Comparing *comparing;
  GPtrArray *expected;     /* of tensors, %NULL for other leaves */
  AliasVersions *versions; /* by all nodes */
  guint n;                 /* leaves so far */
} Returning;

static gboolean
note_leaf (const AdjValue *leaf, gpointer data)
{
  Returning *returning = data;
  AdjTensorData *found = nth_tensor (returning->expected, returning->n++);

  if (leaf->kind == ADJ_VALUE_NODE &&
      alias_versions_get_holder (returning->versions, leaf->node.index) == leaf->node.index)
    returning->comparing->returned[leaf->node.index] = found;
  return TRUE;
}

void
comparing_note_returned (Comparing *comparing)
{
  const AdjGraph *graph = comparing->graph;
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
  g_autoptr (GPtrArray) expected = list_tensors (comparing->request->expected);
  Returning returning = { comparing, expected, alias_versions_new (graph), 0 };

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    alias_versions_pass (returning.versions, i);
  adj_value_foreach (&output->args.items[0], note_leaf, &returning);
  alias_versions_free (returning.versions);
}

AdjTensorData *
comparing_get_expected (const Comparing *comparing, AdjNodeId id, gboolean float64)
{
  const AdjComparisonRequest *request = comparing->request;
  AdjTensorData *found = NULL;

  if (!adj_node_id_is_valid (id))
    return NULL;
  if (request->expected_node != NULL)
    found = request->expected_node (id, float64, request->data);
  return found == NULL && !float64 ? comparing->returned[id.index] : found;
}

void
comparing_settle_draws (const Comparing *comparing, AdjNodeId id, AdjValueComparison *value)
{
  const guint8 *drawn = comparing->request->drawn_otherwise;

  if (drawn == NULL || !adj_node_id_is_valid (id) || !drawn[id.index] ||
      value->verdict != ADJ_VERDICT_DIFFERS || value->cause == ADJ_CAUSE_TYPE ||
      value->cause == ADJ_CAUSE_OWN || value->cause == ADJ_CAUSE_PEER)
    return;
  value->verdict = ADJ_VERDICT_SKIPPED;
  value->cause = ADJ_CAUSE_DRAWS;
}
