/* SPDX-License-Identifier: MIT */
#include "session/adj-session.h"

#include "exec/adj-spill.h"
#include "session/pairing-private.h"

/* -- inputs -- */

typedef struct
{
  const AdjRecordedCall *call; /* (nullable): the recorded call that they are from */
  const AdjValue *values;
  guint n;
  AdjValue *made; /* (owned) (nullable): where they are not the recorded ones */
} Inputs;

static void
inputs_clear (Inputs *inputs)
{
  for (guint i = 0; inputs->made != NULL && i < inputs->n; i++)
    adj_value_clear (&inputs->made[i]);
  g_clear_pointer (&inputs->made, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Inputs, inputs_clear)

/* Compiled code saves values in the layout that suits it, and its backward expects them there; the
 * graph has the layout that was traced. */
static void
lay_out_inputs (const AdjGraph *graph, Inputs *inputs)
{
  const AdjValue *recorded = inputs->values;

  if (inputs->n != adj_graph_get_n_inputs (graph))
    return;
  inputs->values = inputs->made = g_new0 (AdjValue, inputs->n + 1);
  for (guint i = 0; i < inputs->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, adj_graph_get_input (graph, i).index);

      if (recorded[i].kind == ADJ_VALUE_DATA && node->val.kind == ADJ_VALUE_META &&
          node->val.meta->has_strides)
        inputs->made[i] =
            ADJ_DATA (adj_tensor_data_lay_out (recorded[i].data, &node->val.meta->shape));
      else
        inputs->made[i] = adj_value_copy (&recorded[i]);
    }
}

static gboolean
find_inputs (const AdjSessionRun *run, Inputs *inputs, GError **error)
{
  if (run->inputs != NULL)
    {
      inputs->values = run->inputs;
      inputs->n = run->n_inputs;
      return TRUE;
    }
  if (run->random)
    {
      inputs->values = inputs->made =
          adj_session_random_inputs (run->graph->graph, run->seed, &inputs->n, error);
      return inputs->made != NULL;
    }
  inputs->call = adj_bundle_find_call (
      run->bundle, run->recorded != NULL ? run->recorded : run->graph, run->call);
  if (inputs->call == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "graph '%s' has no recorded call %u; give inputs, or a seed for random ones",
                   run->graph->id, run->call);
      return FALSE;
    }
  inputs->values = inputs->call->inputs;
  inputs->n = inputs->call->n_inputs;
  if (run->recorded == NULL)
    lay_out_inputs (run->graph->graph, inputs);
  return TRUE;
}

/* (nullable): what random operators start from. */
static const AdjValue *
states_of (const AdjSessionRun *run, const Inputs *inputs)
{
  if (run->rng == NULL && inputs->call != NULL)
    return inputs->call->rng;
  return run->rng;
}

static const AdjExecutor *
executor_of (const AdjSessionRun *run)
{
  return run->executor != NULL ? run->executor : adj_executors_get (0);
}

/* -- run -- */

typedef struct
{
  const AdjSessionRun *run;
  GHashTable *values; /* (nullable) */
  AdjSpill *spill;    /* of the values */
  GError *full;       /* (owned) (nullable): why a value could not be kept */
} Running;

static gboolean
keep_value (AdjNodeId id, const AdjValue *value, gpointer data)
{
  Running *running = data;
  const AdjNode *node = adj_graph_get_node (running->run->graph->graph, id.index);

  AdjTensorData *kept;

  if (value->kind != ADJ_VALUE_DATA)
    return TRUE;
  kept = adj_spill_take (running->spill, value->data, &running->full);
  if (kept != NULL)
    g_hash_table_insert (running->values, g_strdup (node->name), kept);
  return kept != NULL;
}

static gboolean
replace_value (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  Running *running = data;

  return running->run->replace (id, value, out, running->run->data);
}

static void
report_progress (guint done, guint total, gpointer data)
{
  Running *running = data;

  running->run->progress (done, total, running->run->data);
}

gboolean
adj_session_run (const AdjSessionRun *run,
                 AdjRunResult *result,
                 GHashTable *values,
                 GCancellable *cancellable,
                 GError **error)
{
  g_auto (Inputs) inputs = { 0 };
  g_autoptr (AdjSpill) spill = values != NULL ? adj_spill_new (run->keep_memory) : NULL;
  Running running = { .run = run, .values = values, .spill = spill };
  AdjRunRequest request = {
    .graph = run->graph->graph,
    .float64 = run->float64,
    .memory_limit = run->memory_limit,
    .tap = values != NULL ? keep_value : NULL,
    .replace = run->replace != NULL ? replace_value : NULL,
    .progress = run->progress != NULL ? report_progress : NULL,
    .data = &running,
  };

  if (!find_inputs (run, &inputs, error))
    return FALSE;
  request.inputs = inputs.values;
  request.n_inputs = inputs.n;
  request.rng = states_of (run, &inputs);
  if (adj_executor_run (executor_of (run), &request, result, cancellable, error))
    return TRUE;
  if (running.full != NULL)
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&running.full));
    }
  return FALSE;
}

/* -- compare -- */

typedef struct
{
  const AdjSessionRun *run;
  const AdjRecordedCall *call; /* (nullable): its taps are the peer's values */
  GHashTable *values;          /* (nullable): node name of the peer → its value */
  const char **peer_names;     /* (nullable): of each node, that of the peer's with its value */
} Comparing;

static AdjTensorData *
recorded_node (AdjNodeId id, gboolean float64, gpointer data)
{
  Comparing *comparing = data;
  const AdjNode *node = adj_graph_get_node (comparing->run->graph->graph, id.index);

  return adj_bundle_get_tap (comparing->run->bundle, comparing->call, node->name, float64);
}

static AdjTensorData *
peer_node (AdjNodeId id, gboolean float64, gpointer data)
{
  Comparing *comparing = data;
  const char *name = comparing->peer_names[id.index];

  return float64 || name == NULL ? NULL : g_hash_table_lookup (comparing->values, name);
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
         const Inputs *inputs,
         GCancellable *cancellable,
         GError **error)
{
  const AdjSessionRun *run = comparing->run;

  request->graph = run->graph->graph;
  request->inputs = inputs->values;
  request->n_inputs = inputs->n;
  request->rng = states_of (run, inputs);
  request->executor = executor_of (run);
  request->keep_memory = run->keep_memory;
  request->replace = run->replace != NULL ? replace_candidate : NULL;
  request->progress = run->progress != NULL ? report_comparison : NULL;
  request->beside = run->beside != NULL ? note_beside : NULL;
  request->data = comparing;
  return adj_comparison_run (request, cancellable, error);
}

/* The node of @graph that draws random numbers as no node of @other does; %NULL when there is none.
 */
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

/* A call put together from those of forward and backward holds numbers that forward drew: after
 * Inductor's passes it draws others than the joint graph. */
static gboolean
check_draws (const AdjSessionRun *run, const AdjRecordedCall *call, GError **error)
{
  const AdjRegion *region = adj_bundle_find_region (run->bundle, call->graph);

  for (guint i = 0; call->derived && region != NULL && i < region->n_graphs; i++)
    {
      const AdjBundleGraph *ran = region->graphs[i];
      const AdjNode *node = NULL;

      if (g_str_equal (ran->role, "forward"))
        node = find_other_draw (run->graph->graph, ran->graph);
      if (node == NULL)
        continue;
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "'%s' draws random numbers (node '%s'), and what was recorded for it was drawn "
                   "otherwise, by '%s': compare that, and its backward",
                   run->graph->id, node->name, ran->id);
      return FALSE;
    }
  return TRUE;
}

AdjComparison *
adj_session_compare_recorded (const AdjSessionRun *run,
                              gboolean nodes,
                              double rtol,
                              double atol,
                              GCancellable *cancellable,
                              GError **error)
{
  g_auto (Inputs) inputs = { 0 };
  Comparing comparing = { .run = run };
  AdjComparisonRequest request = { .nodes = nodes,
                                   .rtol = rtol,
                                   .atol = atol,
                                   .expected_node = run->recorded == NULL ? recorded_node : NULL };
  AdjValue expected = { .kind = ADJ_VALUE_TUPLE };

  if (!find_inputs (run, &inputs, error))
    return NULL;
  if (inputs.call == NULL)
    {
      g_set_error_literal (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                           "only a run on recorded inputs can be compared with what was recorded");
      return NULL;
    }
  if (!check_draws (run, inputs.call, error))
    return NULL;
  comparing.call = inputs.call;
  expected.n = inputs.call->n_outputs;
  expected.items = (AdjValue *) inputs.call->outputs;
  request.expected = &expected;
  return compare (&comparing, &request, &inputs, cancellable, error);
}

static const char **
peer_names (const AdjGraph *a, const AdjGraph *b)
{
  g_autofree AdjNodeId *pairs = session_pair_values (a, b);
  guint n = adj_graph_get_n_nodes (a);
  const char **names = g_new0 (const char *, n);

  for (guint i = 0; i < n; i++)
    if (adj_node_id_is_valid (pairs[i]))
      names[i] = adj_graph_get_node (b, pairs[i].index)->name;
  return names;
}

/* The inputs of @from in the order in which @to takes them. */
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
                    Inputs *inputs,
                    const AdjGraph **of,
                    GError **error)
{
  g_autoptr (GError) first = NULL;

  *of = a->graph->graph;
  if (find_inputs (a, inputs, &first))
    return TRUE;
  *of = b->graph->graph;
  if (g_error_matches (first, ADJ_ERROR, ADJ_ERROR_NOT_FOUND) && find_inputs (b, inputs, NULL))
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
  g_auto (Inputs) inputs = { 0 };
  g_autoptr (GHashTable) values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                                         (GDestroyNotify) adj_tensor_data_unref);
  g_autofree const char **names = peer_names (a->graph->graph, b->graph->graph);
  AdjSessionRun candidate = *a, peer = *b;
  g_autofree AdjValue *inputs_a = NULL;
  g_autofree AdjValue *inputs_b = NULL;
  const AdjGraph *of;
  AdjRunResult result = { 0 };
  Comparing comparing = { .run = &candidate, .values = values, .peer_names = names };
  AdjComparisonRequest request = {
    .nodes = nodes, .rtol = rtol, .atol = atol, .expected_node = peer_node
  };
  Inputs given = { 0 };
  AdjComparison *comparison;

  if (!find_common_inputs (a, b, &inputs, &of, error))
    return NULL;
  inputs_a = arrange_inputs (of, a->graph->graph, inputs.values, inputs.n);
  inputs_b = arrange_inputs (of, b->graph->graph, inputs.values, inputs.n);
  candidate.rng = peer.rng = states_of (a, &inputs);
  candidate.inputs = inputs_a;
  peer.inputs = inputs_b;
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
  adj_run_result_clear (&result);
  return comparison;
}
