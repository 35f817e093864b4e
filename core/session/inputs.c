/* SPDX-License-Identifier: MIT */
/* The inputs of a run: recorded, kept or random, and the executor and generator state that go
 * with them. */

#include "formats/adj-bundle-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-value-internal.h"
#include "session/inputs-private.h"

void
session_inputs_clear (SessionInputs *inputs)
{
  for (guint i = 0; inputs->made != NULL && i < inputs->n; i++)
    adj_value_clear (&inputs->made[i]);
  g_clear_pointer (&inputs->made, g_free);
}

/* Copies recorded inputs to the strides of the graph's annotations: compiled code saves values in
 * other layouts than the traced one, and its backward was recorded with these. */
static void
lay_out_inputs (const AdjGraph *graph, SessionInputs *inputs)
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

/* Loads what a run of a call begins with; its inputs are read when they are used. */
static gboolean
fetch_call (const AdjRecordedCall *call, GError **error)
{
  return (call->rng == NULL || adj_value_fetch (call->rng, error)) &&
         (call->backward == NULL || adj_value_fetch (call->backward, error));
}

/* The known inputs of a graph without a recorded call. (nullable) */
static const AdjValue *
find_weights (const AdjSessionRun *run, guint *n)
{
  return run->bundle != NULL
             ? adj_bundle_get_weights (run->bundle,
                                       run->recorded != NULL ? run->recorded : run->graph, n)
             : NULL;
}

/* Draws random inputs by their annotations, except those that the file has. */
static gboolean
make_up (const AdjSessionRun *run, SessionInputs *inputs, GError **error)
{
  guint n_known = 0;
  const AdjValue *known = find_weights (run, &n_known);

  if (known != NULL && n_known != adj_graph_get_n_inputs (run->graph->graph))
    known = NULL;
  inputs->values = inputs->made =
      session_make_inputs (run->graph->graph, known, run->seed, &inputs->n, error);
  return inputs->made != NULL;
}

static void
fail_unrecorded (const AdjSessionRun *run, GError **error)
{
  guint n;

  if (run->call > 0)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED, "graph '%s' has no recorded call %u",
                 run->graph->id, run->call);
  else if (find_weights (run, &n) != NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
                 "the file has the weights of graph '%s' and no sample inputs; give inputs, or a "
                 "seed for random ones beside the weights",
                 run->graph->id);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNRECORDED,
                 "nothing was recorded for graph '%s', which was never called; give inputs, or "
                 "a seed for random ones",
                 run->graph->id);
}

gboolean
adj_session_draws_beside_weights (const AdjSessionRun *run)
{
  guint n;

  return run->inputs == NULL && run->random && find_weights (run, &n) != NULL;
}

char *
adj_session_describe_inputs (const AdjSessionRun *run)
{
  if (run->inputs != NULL)
    return g_strdup ("given inputs");
  if (adj_session_draws_beside_weights (run))
    return g_strdup_printf ("weights of the file, else random numbers of seed %u", run->seed);
  if (run->random)
    return g_strdup_printf ("seed %u", run->seed);
  if (run->kept != NULL)
    return g_strdup_printf ("run %s", run->kept->origin->name);
  return g_strdup_printf ("recorded call %u", run->call + 1);
}

gboolean
session_find_inputs (const AdjSessionRun *run, SessionInputs *inputs, GError **error)
{
  if (run->inputs != NULL)
    {
      inputs->values = run->inputs;
      inputs->n = run->n_inputs;
      return TRUE;
    }
  if (run->random)
    return make_up (run, inputs, error);
  inputs->call = run->kept;
  if (inputs->call == NULL)
    inputs->call = adj_bundle_find_call (
        run->bundle, run->recorded != NULL ? run->recorded : run->graph, run->call);
  if (inputs->call == NULL)
    {
      fail_unrecorded (run, error);
      return FALSE;
    }
  inputs->values = inputs->call->inputs;
  inputs->n = inputs->call->n_inputs;
  if (!fetch_call (inputs->call, error))
    return FALSE;
  if (run->recorded == NULL)
    lay_out_inputs (run->graph->graph, inputs);
  return TRUE;
}

const AdjValue *
session_states (const AdjSessionRun *run, const SessionInputs *inputs)
{
  if (run->rng == NULL && inputs->call != NULL)
    return inputs->call->rng;
  return run->rng;
}

const AdjRelease *
session_release (const AdjSessionRun *run)
{
  return adj_release_find (run->bundle != NULL ? adj_bundle_get_torch_version (run->bundle) : NULL,
                           NULL);
}

AdjRandomSource
session_random_source (const AdjSessionRun *run)
{
  AdjRandomSource source;

  if (run->bundle != NULL && adj_bundle_get_random_source (run->bundle, &source))
    return source;
  return session_release (run)->random_source;
}

const AdjExecutor *
session_executor (const AdjSessionRun *run)
{
  return run->executor != NULL ? run->executor : adj_executors_get (0);
}
