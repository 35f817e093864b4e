/* SPDX-License-Identifier: MIT */
#include "session/adj-session.h"

#include "exec/adj-spill.h"
#include "session/inputs-private.h"

typedef struct
{
  const AdjSessionRun *run;
  GHashTable *values;          /* (nullable) */
  AdjSpill *spill;             /* of the values */
  GError *full;                /* (owned) (nullable): why a value could not be kept */
  const AdjRecordedCall *call; /* (nullable): that supplied the inputs */
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

static AdjTensorData *
find_recorded (const Running *running, const AdjNode *node)
{
  return adj_bundle_get_tap (running->run->bundle, running->call, node->name, FALSE);
}

/* Of a call that gave several: by those who take it apart. */
static gboolean
recall_items (const Running *running, const AdjNode *node, AdjValue *out)
{
  const AdjGraph *graph = running->run->graph->graph;
  g_autoptr (GHashTable) found = g_hash_table_new (NULL, NULL);
  gint64 n = 0;

  for (guint i = 0; i < node->n_users; i++)
    {
      const AdjNode *user = adj_graph_get_node (graph, node->users[i].index);
      const AdjValue *at = user->args.n == 2 ? &user->args.items[1] : &ADJ_NONE;
      AdjTensorData *recorded = find_recorded (running, user);

      if (!g_str_equal (user->target, "operator.getitem") || recorded == NULL ||
          at->kind != ADJ_VALUE_INT || at->integer < 0 || at->integer >= ADJ_MAX_NODES)
        return FALSE;
      g_hash_table_insert (found, GINT_TO_POINTER (at->integer), recorded);
      n = MAX (n, at->integer + 1);
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = (guint) n };
  out->items = g_new0 (AdjValue, n + 1);
  for (gint64 i = 0; i < n; i++)
    {
      AdjTensorData *recorded = g_hash_table_lookup (found, GINT_TO_POINTER (i));

      if (recorded != NULL)
        out->items[i] = ADJ_DATA (adj_tensor_data_ref (recorded));
    }
  return n > 0;
}

/* As the call recorded it that supplied the inputs. */
static gboolean
recall_value (AdjNodeId id, AdjValue *out, gpointer data)
{
  const Running *running = data;
  const AdjNode *node = adj_graph_get_node (running->run->graph->graph, id.index);
  AdjTensorData *recorded;

  if (running->call == NULL || running->run->recorded != NULL)
    return FALSE;
  recorded = find_recorded (running, node);
  if (recorded == NULL)
    return recall_items (running, node, out);
  *out = ADJ_DATA (adj_tensor_data_ref (recorded));
  return TRUE;
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
    .tap = values != NULL ? keep_value : NULL,
    .replace = run->replace != NULL ? replace_value : NULL,
    .recall = recall_value,
    .progress = run->progress != NULL ? report_progress : NULL,
    .data = &running,
  };

  if (!session_find_inputs (run, &inputs, error))
    return FALSE;
  running.call = inputs.call;
  request.inputs = inputs.values;
  request.n_inputs = inputs.n;
  request.rng = session_states (run, &inputs);
  if (adj_executor_run (session_executor (run), &request, result, cancellable, error))
    return TRUE;
  if (running.full != NULL)
    {
      g_clear_error (error);
      g_propagate_error (error, g_steal_pointer (&running.full));
    }
  return FALSE;
}
