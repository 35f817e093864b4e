/* SPDX-License-Identifier: MIT */
/* Runs one graph of a bundle: the entry for the command line and the window. */

#include "session/adj-session.h"

#include "exec/adj-spill.h"
#include "formats/adj-bundle-internal.h"
#include "ir/adj-graph.h"
#include "session/inputs-private.h"

typedef struct
{
  const AdjSessionRun *run;
  GHashTable *values;          /* (nullable) */
  AdjSpill *spill;             /* where @values that do not fit into memory go */
  GError *full;                /* (owned) (nullable): why a value could not be kept */
  const AdjRecordedCall *call; /* (nullable): the call that supplied the inputs */
  const AdjBundle *call_from;  /* (nullable): the bundle of @call */
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
see_value (AdjNodeId id, const AdjValue *value, gpointer data)
{
  const Running *running = data;
  const AdjSessionRun *run = running->run;

  return (run->tap == NULL || run->tap (id, value, run->data)) &&
         (running->values == NULL || keep_value (id, value, data));
}

static void
hear_call (AdjNodeId id, gpointer data)
{
  const AdjSessionRun *run = ((const Running *) data)->run;

  run->before (id, run->data);
}

static gboolean
replace_value (AdjNodeId id, const AdjValue *value, AdjValue *out, gpointer data)
{
  Running *running = data;

  return running->run->replace (id, value, out, running->run->data);
}

static gboolean
recall_value (AdjNodeId id, AdjValue *out, gpointer data)
{
  const Running *running = data;

  return running->call != NULL && running->run->recorded == NULL &&
         session_recall (running->call_from, running->call, running->run->graph->graph, id, out);
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
  g_auto (SessionInputs) inputs = { 0 };
  g_autoptr (AdjSpill) spill = values != NULL ? adj_spill_new (run->keep_memory) : NULL;
  Running running = { .run = run, .values = values, .spill = spill };
  AdjRunRequest request = {
    .graph = run->graph->graph,
    .float64 = run->float64,
    .memory_limit = run->memory_limit,
    .timed = run->timed,
    .gpu = run->gpu,
    .before = run->before != NULL ? hear_call : NULL,
    .tap = values != NULL || run->tap != NULL ? see_value : NULL,
    .replace = run->replace != NULL ? replace_value : NULL,
    .recall = recall_value,
    .progress = run->progress != NULL ? report_progress : NULL,
    .data = &running,
  };

  if (!session_find_inputs (run, &inputs, error))
    return FALSE;
  running.call = inputs.call != NULL ? inputs.call : run->recalled;
  running.call_from = inputs.call != NULL ? run->bundle : run->recalled_from;
  request.inputs = inputs.values;
  request.n_inputs = inputs.n;
  request.rng = session_states (run, &inputs);
  request.random_source = session_random_source (run);
  request.gpu_threads = run->bundle != NULL ? adj_bundle_get_gpu_threads (run->bundle) : 0;
  request.release = session_release (run)->name;
  if (adj_executor_run (session_executor (run), &request, result, cancellable, error))
    return TRUE;
  if (running.full != NULL)
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&running.full));
    }
  return FALSE;
}
