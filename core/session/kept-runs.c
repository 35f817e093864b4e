/* SPDX-License-Identifier: MIT */
#include <gio/gio.h>

#include "session/inputs-private.h"

/* Where its inputs came from, in words. */
static char *
describe_inputs (const AdjSessionRun *run, const char *inputs)
{
  if (run->inputs != NULL)
    return g_strdup (inputs != NULL ? inputs : "given inputs");
  if (run->random)
    return g_strdup_printf ("seed %u", run->seed);
  if (run->kept != NULL)
    return g_strdup_printf ("run %s", run->kept->origin->name);
  return g_strdup_printf ("recorded call %u", run->call + 1);
}

static gboolean
add_leaf (const AdjValue *leaf, gpointer outputs)
{
  g_array_append_val (outputs, *leaf);
  return TRUE;
}

AdjRecordedCall *
adj_session_make_run (const AdjSessionRun *run,
                      const AdjRunResult *result,
                      GHashTable *values,
                      const char *name,
                      const char *inputs,
                      GError **error)
{
  g_auto (SessionInputs) found = { 0 };
  g_autoptr (GArray) outputs = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%dT%H:%M:%SZ");
  g_autofree char *from = describe_inputs (run, inputs);
  AdjRunOrigin origin = {
    .name = name,
    .producer = "adjoint " ADJ_VERSION,
    .executor = session_executor (run)->name,
    .float64 = run->float64,
    .inputs = from,
    .date = date,
  };
  AdjRecordedCall call = { .graph = run->graph, .origin = &origin };

  if (adj_bundle_find_entry (run->bundle, run->graph->graph) != run->graph)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "'%s' is put together from graphs of the file: runs of those can be kept",
                   run->graph->id);
      return NULL;
    }
  if (!session_find_inputs (run, &found, error))
    return NULL;
  /* As they were recorded, not as they were laid out: a file has them once. */
  call.inputs = found.call != NULL ? found.call->inputs : found.values;
  call.n_inputs = found.n;
  call.rng = session_states (run, &found);
  adj_value_foreach (&result->output, add_leaf, outputs);
  call.outputs = (const AdjValue *) (gpointer) outputs->data;
  call.n_outputs = outputs->len;
  return adj_run_new (&call, values);
}

/* -- how large -- */

typedef struct
{
  GHashTable *known; /* GBytes that are counted, or in the file already */
  gboolean counts;
  guint64 n;
} Count;

static void
count_tensor (Count *count, AdjTensorData *data)
{
  GBytes *bytes = adj_tensor_data_get_bytes (data);

  if (g_hash_table_add (count->known, bytes) && count->counts)
    count->n += g_bytes_get_size (bytes);
}

static gboolean
count_leaf (const AdjValue *leaf, gpointer count)
{
  if (leaf->kind == ADJ_VALUE_DATA)
    count_tensor (count, leaf->data);
  return TRUE;
}

static void
count_call (Count *count, const AdjRecordedCall *call)
{
  for (guint i = 0; i < call->n_inputs; i++)
    adj_value_foreach (&call->inputs[i], count_leaf, count);
  for (guint i = 0; i < call->n_outputs; i++)
    adj_value_foreach (&call->outputs[i], count_leaf, count);
}

guint64
adj_session_count_kept_bytes (const AdjBundle *bundle, const AdjRecordedCall *run, gboolean values)
{
  g_autoptr (GHashTable) known = g_hash_table_new (NULL, NULL);
  Count count = { .known = known };
  const AdjGraph *graph = run->graph->graph;

  for (guint i = 0; i < adj_bundle_get_n_calls (bundle); i++)
    count_call (&count, adj_bundle_get_call (bundle, i));
  count.counts = TRUE;
  count_call (&count, run);
  for (guint i = 0; values && i < adj_graph_get_n_nodes (graph); i++)
    {
      AdjTensorData *value =
          adj_bundle_get_tap (bundle, run, adj_graph_get_node (graph, i)->name, FALSE);

      if (value != NULL)
        count.n += adj_tensor_meta_bytes (adj_tensor_data_get_meta (value), NULL);
    }
  return count.n;
}
