/* SPDX-License-Identifier: MIT */
/* Compares a run with its recording, or with another run. */

#include "analysis/adj-node-call.h"
#include "call/adj-op-internal.h"
#include "formats/adj-bundle-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "session/inputs-private.h"
#include "session/pairing-private.h"
#include "session/random-draws-private.h"
#include "session/stale-values-private.h"
#include "tensor/adj-late-bytes-internal.h"

typedef struct
{
  const AdjSessionRun *run;
  const AdjRecordedCall *call; /* (nullable): its taps are the peer's values */
  const AdjBundle *call_from;  /* (nullable): the bundle of @call */
  const guint8 *stale;         /* (nullable): per node: its recorded value is stale */
  GHashTable *values;          /* (nullable): node name of the peer → its value */
  const char **peer_names;     /* (nullable): per node: the name of the peer's node with its value;
                                  %NULL: its own name */
  GError *unread;              /* (owned) (nullable): why a recorded value could not be read */
} Comparing;

/* Reads the data of @found (nullable); %NULL where it cannot be read, which @comparing notes. */
static AdjTensorData *
fetch (Comparing *comparing, AdjTensorData *found)
{
  if (found != NULL &&
      !adj_tensor_data_fetch (found, comparing->unread == NULL ? &comparing->unread : NULL))
    return NULL;
  return found;
}

static AdjTensorData *
recorded_node (AdjNodeId id, gboolean float64, gpointer data)
{
  Comparing *comparing = data;
  const AdjNode *node = adj_graph_get_node (comparing->run->graph->graph, id.index);

  if (comparing->stale != NULL && comparing->stale[id.index])
    return NULL;
  return fetch (comparing,
                adj_bundle_get_tap (comparing->run->bundle, comparing->call, node->name, float64));
}

static AdjTensorData *
peer_node (AdjNodeId id, gboolean float64, gpointer data)
{
  Comparing *comparing = data;
  const char *name = comparing->peer_names != NULL
                         ? comparing->peer_names[id.index]
                         : adj_graph_get_node (comparing->run->graph->graph, id.index)->name;

  return float64 || name == NULL ? NULL : g_hash_table_lookup (comparing->values, name);
}

static gboolean
recall_value (AdjNodeId id, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;

  return session_recall (comparing->call_from, comparing->call, comparing->run->graph->graph, id,
                         out) &&
         adj_value_fetch (out, comparing->unread == NULL ? &comparing->unread : NULL);
}

static gboolean
replace_candidate (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  Comparing *comparing = data;

  return comparing->run->replace (id, value, out, comparing->run->data);
}

static void
report_comparison (guint done, guint total, gpointer data)
{
  Comparing *comparing = data;

  comparing->run->progress (done, total, comparing->run->data);
}

static void
note_beside (AdjNodeId id, AdjTensorData *other, gpointer data)
{
  Comparing *comparing = data;
  const AdjNode *node = adj_graph_get_node (comparing->run->graph->graph, id.index);

  g_hash_table_insert (comparing->run->beside, g_strdup (node->name), adj_tensor_data_ref (other));
}

static AdjComparison *
compare (Comparing *comparing,
         AdjComparisonRequest *request,
         const SessionInputs *inputs,
         GCancellable *cancellable,
         GError **error)
{
  const AdjSessionRun *run = comparing->run;
  AdjComparison *comparison;

  request->graph = run->graph->graph;
  request->inputs = inputs->values;
  request->n_inputs = inputs->n;
  request->rng = session_states (run, inputs);
  request->random_source = session_random_source (run);
  request->gpu_threads = run->bundle != NULL ? adj_bundle_get_gpu_threads (run->bundle) : 0;
  request->release = session_release (run)->name;
  request->executor = session_executor (run);
  request->gpu = run->gpu;
  request->keep_memory = run->keep_memory;
  request->replace = run->replace != NULL ? replace_candidate : NULL;
  request->recall = comparing->call != NULL && run->recorded == NULL ? recall_value : NULL;
  request->progress = run->progress != NULL ? report_comparison : NULL;
  request->beside = run->beside != NULL ? note_beside : NULL;
  request->data = comparing;
  comparison = adj_comparison_run (request, cancellable, error);
  if (comparing->unread == NULL)
    return comparison;
  g_clear_pointer (&comparison, adj_comparison_free);
  g_clear_error (error);
  g_propagate_error (error, g_steal_pointer (&comparing->unread));
  return NULL;
}

/* A node of @graph that draws random numbers and matches no such node of @other; %NULL: none. */
static const AdjNode *
find_other_draw (const AdjGraph *graph, const AdjGraph *other)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      AdjNodeId same;

      if (node->op == NULL || (node->op->flags & ADJ_OP_RANDOM) == 0)
        continue;
      same = adj_graph_find_node (other, node->name);
      if (!adj_node_id_is_valid (same) || adj_graph_get_node (other, same.index)->op != node->op)
        return node;
    }
  return NULL;
}

/* Fails where outputs were not recorded: files of programs have inputs alone.  A graph without
 * outputs (a backward that accumulates into leaves) passes. */
static gboolean
check_outputs (const AdjSessionRun *run, const AdjRecordedCall *call, GError **error)
{
  const AdjGraph *graph = run->graph->graph;

  if (call->n_outputs > 0 || call->origin != NULL ||
      adj_graph_get_node (graph, adj_graph_get_output (graph).index)->n_inputs == 0)
    return TRUE;
  g_set_error (
      error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
      "for graph '%s' there are inputs, but nothing that PyTorch computed of them: save its "
      "outputs with torch.save() and compare with that file",
      run->graph->id);
  return FALSE;
}

/* A node of @forward that draws random numbers and that @backward recomputes; %NULL: none. */
static const AdjNode *
find_second_draw (const AdjGraph *forward, const AdjGraph *backward)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (backward); i++)
    {
      const AdjNode *node = adj_graph_get_node (backward, i);
      AdjNodeId first = adj_graph_find_node (forward, node->name);

      if (node->op != NULL && (node->op->flags & ADJ_OP_RANDOM) != 0 &&
          adj_node_id_is_valid (first) && adj_graph_get_node (forward, first.index)->op == node->op)
        return node;
    }
  return NULL;
}

static const AdjBundleGraph *
find_in_region (const AdjRegion *region, const char *role)
{
  for (guint i = 0; i < region->n_graphs; i++)
    if (g_str_equal (region->graphs[i]->role, role))
      return region->graphs[i];
  return NULL;
}

/* Refuses a call that was derived from those of forward and backward if random numbers differ:
 * Inductor's passes may have changed the operators that draw in forward, and a backward that
 * recomputes a random operator draws again. */
static gboolean
check_draws (const AdjSessionRun *run, const AdjRecordedCall *call, GError **error)
{
  const AdjRegion *region = adj_bundle_find_region (run->bundle, call->graph);
  gboolean derived = call->derived && region != NULL;
  const AdjBundleGraph *forward = derived ? find_in_region (region, "forward") : NULL;
  const AdjBundleGraph *backward = derived ? find_in_region (region, "backward") : NULL;
  const AdjNode *node;

  node = forward != NULL ? find_other_draw (run->graph->graph, forward->graph) : NULL;
  if (node != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
                   "'%s' draws random numbers (node '%s'), and what was recorded for it was drawn "
                   "otherwise, by '%s': compare #forward+backward instead",
                   run->graph->id, node->name, forward->id);
      return FALSE;
    }
  node = forward != NULL && backward != NULL ? find_second_draw (forward->graph, backward->graph)
                                             : NULL;
  if (node != NULL)
    g_set_error (
        error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
        "'%s' draws node '%s' once, and what was recorded for it was drawn again, by '%s', "
        "with other numbers: compare '%s' and '%s' instead",
        run->graph->id, node->name, backward->id, forward->id, backward->id);
  return node == NULL;
}

AdjComparison *
adj_session_compare_recorded (const AdjSessionRun *run,
                              gboolean nodes,
                              double rtol,
                              double atol,
                              GCancellable *cancellable,
                              GError **error)
{
  g_auto (SessionInputs) inputs = { 0 };
  Comparing comparing = { .run = run };
  AdjComparisonRequest request = { .nodes = nodes,
                                   .rtol = rtol,
                                   .atol = atol,
                                   .expected_node = run->recorded == NULL ? recorded_node : NULL };
  AdjValue expected = { .kind = ADJ_VALUE_TUPLE };
  g_autofree guint8 *stale = NULL;

  if (!session_find_inputs (run, &inputs, error))
    return NULL;
  if (inputs.call == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
                           "only a run on recorded inputs can be compared with what was recorded");
      return NULL;
    }
  if (inputs.call->origin != NULL && inputs.call->origin->float64)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "the run '%s' was computed in float64: its values are of other types than those "
                   "of the graph",
                   inputs.call->origin->name);
      return NULL;
    }
  if (!check_outputs (run, inputs.call, error) || !check_draws (run, inputs.call, error) ||
      !adj_values_fetch (inputs.call->outputs, inputs.call->n_outputs, error) ||
      !session_find_stale_values (run->bundle, inputs.call, &stale, error))
    return NULL;
  comparing.call = inputs.call;
  comparing.call_from = run->bundle;
  comparing.stale = stale;
  expected.n = inputs.call->n_outputs;
  expected.items = (AdjValue *) inputs.call->outputs;
  request.expected = &expected;
  return compare (&comparing, &request, &inputs, cancellable, error);
}

/* -- with values by name -- */

static gboolean
is_same (const AdjTensorData *a, const AdjTensorData *b)
{
  AdjTensorDifference difference;

  adj_tensor_compare (a, b, &difference);
  return difference.same_shape && difference.same_dtype && difference.max_abs == 0 &&
         difference.n_class_mismatch == 0;
}

/* Whether an operator that writes takes @input: its recorded value may be from after the write. */
static gboolean
is_written (const AdjGraph *graph, const AdjNode *input)
{
  for (guint i = 0; i < input->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, input->users[i].index);

      if (adj_node_may_write (user))
        return TRUE;
    }
  return FALSE;
}

/* Fails where inputs differ: nodes would differ without a fault of their own. */
static gboolean
check_inputs (const AdjGraph *graph,
              const SessionInputs *inputs,
              GHashTable *values,
              GError **error)
{
  for (guint i = 0; i < MIN (inputs->n, adj_graph_get_n_inputs (graph)); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);
      const AdjTensorData *other = g_hash_table_lookup (values, node->name);

      if (other == NULL || inputs->values[i].kind != ADJ_VALUE_DATA || is_written (graph, node) ||
          is_same (inputs->values[i].data, other))
        continue;
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "the values were computed from other inputs: '%s' is not what this run gets",
                   node->name);
      if (error != NULL)
        adj_error_blame_input (*error, i);
      return FALSE;
    }
  return TRUE;
}

typedef struct
{
  const AdjGraph *graph;
  GHashTable *values;
  GArray *outputs; /* of AdjValue, borrowed */
  guint n_found;
} Expecting;

static gboolean
expect_output (const AdjValue *leaf, gpointer data)
{
  Expecting *expecting = data;
  g_autofree char *name = g_strdup_printf (ADJ_OUTPUT_NAME, expecting->outputs->len);
  AdjTensorData *found = g_hash_table_lookup (expecting->values, name);
  AdjValue value = ADJ_NONE;

  if (found == NULL && leaf->kind == ADJ_VALUE_NODE)
    found = g_hash_table_lookup (expecting->values,
                                 adj_graph_get_node (expecting->graph, leaf->node.index)->name);
  if (found != NULL)
    {
      value = ADJ_DATA (found);
      expecting->n_found++;
    }
  g_array_append_val (expecting->outputs, value);
  return TRUE;
}

/* Fills @outputs with the expected outputs; fails where none of them has a value, since nothing
 * would be compared. */
static gboolean
expect_outputs (
    const AdjGraph *graph, GHashTable *values, gboolean nodes, GArray *outputs, GError **error)
{
  Expecting expecting = { graph, values, outputs, 0 };

  adj_value_foreach (&adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args.items[0],
                     expect_output, &expecting);
  if (expecting.n_found > 0 || (nodes && g_hash_table_size (values) > 0))
    return TRUE;
  g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                       nodes ? "there is no value to compare with"
                             : "there is no value of an output to compare with, only of nodes");
  return FALSE;
}

AdjComparison *
adj_session_compare_values (const AdjSessionRun *run,
                            GHashTable *values,
                            gboolean nodes,
                            double rtol,
                            double atol,
                            GCancellable *cancellable,
                            GError **error)
{
  AdjGraph *graph = run->graph->graph;
  g_auto (SessionInputs) inputs = { 0 };
  g_autoptr (GArray) outputs = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  Comparing comparing = { .run = run, .values = values };
  AdjValue expected = { .kind = ADJ_VALUE_TUPLE };
  AdjComparisonRequest request = { .nodes = nodes,
                                   .rtol = rtol,
                                   .atol = atol,
                                   .expected = &expected,
                                   .partial = TRUE,
                                   .expected_node = peer_node };

  if (!session_find_inputs (run, &inputs, error) || !check_inputs (graph, &inputs, values, error) ||
      !expect_outputs (graph, values, nodes, outputs, error))
    return NULL;
  expected.n = outputs->len;
  expected.items = (AdjValue *) (gpointer) outputs->data;
  return compare (&comparing, &request, &inputs, cancellable, error);
}

/* -- with another graph -- */

static const char **
peer_names (const AdjGraph *a, const AdjGraph *b, const AdjNodeId *pairs)
{
  guint n = adj_graph_get_n_nodes (a);
  const char **names = g_new0 (const char *, n);

  for (guint i = 0; i < n; i++)
    if (adj_node_id_is_valid (pairs[i]))
      names[i] = adj_graph_get_node (b, pairs[i].index)->name;
  return names;
}

/* The inputs of @from in the order in which @to takes them; values are borrowed. */
static AdjValue *
arrange_inputs (const AdjGraph *from, const AdjGraph *to, const AdjValue *inputs, guint n)
{
  AdjValue *arranged = g_memdup2 (inputs, sizeof (AdjValue) * n);

  if (n != adj_graph_get_n_inputs (from) || !session_inputs_go_by_name (to, from))
    return arranged;
  for (guint i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (to, adj_graph_get_input (to, i).index);
      AdjNodeId id = adj_graph_find_node (from, node->name);

      for (guint k = 0; k < n; k++)
        if (adj_graph_get_input (from, k).index == id.index)
          arranged[i] = inputs[k];
    }
  return arranged;
}

/* Both run on the recorded inputs of @a; where it has none, on those of @b. */
static gboolean
find_common_inputs (const AdjSessionRun *a,
                    const AdjSessionRun *b,
                    SessionInputs *inputs,
                    const AdjGraph **of,
                    GError **error)
{
  g_autoptr (GError) first = NULL;

  *of = a->graph->graph;
  if (session_find_inputs (a, inputs, &first))
    return TRUE;
  *of = b->graph->graph;
  if (g_error_matches (first, ADJ_ERROR, ADJ_ERROR_UNRECORDED) &&
      session_find_inputs (b, inputs, NULL))
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&first));
  return FALSE;
}

AdjComparison *
adj_session_compare (const AdjSessionRun *a,
                     const AdjSessionRun *b,
                     gboolean nodes,
                     double rtol,
                     double atol,
                     GCancellable *cancellable,
                     GError **error)
{
  g_auto (SessionInputs) inputs = { 0 };
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  g_autofree AdjNodeId *pairs = session_pair_values (a->graph->graph, b->graph->graph);
  g_autofree const char **names = peer_names (a->graph->graph, b->graph->graph, pairs);
  g_autofree guint8 *drawn = session_find_other_draws (a->graph->graph, b->graph->graph, pairs);
  AdjSessionRun candidate = *a, peer = *b;
  g_autofree AdjValue *inputs_a = NULL;
  g_autofree AdjValue *inputs_b = NULL;
  const AdjGraph *of;
  AdjRunResult result = { 0 };
  Comparing comparing = { .run = &candidate, .values = values, .peer_names = names };
  AdjComparisonRequest request = { .nodes = nodes,
                                   .rtol = rtol,
                                   .atol = atol,
                                   .expected_node = peer_node,
                                   .of_graphs = TRUE,
                                   .drawn_otherwise = drawn };
  SessionInputs given = { 0 };
  AdjComparison *comparison;

  if (!find_common_inputs (a, b, &inputs, &of, error))
    return NULL;
  inputs_a = arrange_inputs (of, a->graph->graph, inputs.values, inputs.n);
  inputs_b = arrange_inputs (of, b->graph->graph, inputs.values, inputs.n);
  candidate.rng = peer.rng = session_states (a, &inputs);
  candidate.inputs = inputs_a;
  peer.inputs = inputs_b;
  /* Calls that cannot run here (hooks) get the same recorded results in both runs. */
  comparing.call = peer.recalled = inputs.call;
  comparing.call_from = peer.recalled_from = of == a->graph->graph ? a->bundle : b->bundle;
  candidate.n_inputs = peer.n_inputs = inputs.n;
  if (!adj_session_run (&peer, &result, nodes ? values : NULL, cancellable, error))
    {
      g_prefix_error (error, "what it is compared with: ");
      return NULL;
    }
  request.expected = &result.output;
  given.values = inputs_a;
  given.n = inputs.n;
  comparison = compare (&comparing, &request, &given, cancellable, error);
  if (comparison != NULL)
    comparison->peer_note = g_steal_pointer (&result.note);
  adj_run_result_clear (&result);
  return comparison;
}
