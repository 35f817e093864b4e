/* SPDX-License-Identifier: MIT */
/* Kept runs: made from a session's values, measured, moved to another bundle. */

#include <gio/gio.h>

#include "formats/adj-bundle-internal.h"
#include "ir/adj-graph.h"
#include "session/inputs-private.h"
#include "tensor/adj-late-bytes-internal.h"

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
  g_autofree char *from =
      run->inputs != NULL && inputs != NULL ? g_strdup (inputs) : adj_session_describe_inputs (run);
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
  /* The inputs with their recorded strides, so that the file stores them once. */
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
  GHashTable *known; /* storages that are counted already, or that the file has */
  gboolean counts;
  guint64 n;
} Count;

static void
count_tensor (Count *count, AdjTensorData *data)
{
  if (g_hash_table_add (count->known, adj_tensor_data_get_storage (data)) && count->counts)
    count->n += adj_tensor_data_get_n_bytes (data);
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

/* -- to another reading of the file -- */

static gboolean
collect_data (const AdjValue *leaf, gpointer list)
{
  if (leaf->kind == ADJ_VALUE_DATA)
    g_ptr_array_add (list, leaf->data);
  return TRUE;
}

static void
collect_call (const AdjRecordedCall *call, const AdjBundleGraph *graph, GPtrArray *list)
{
  for (guint i = 0; call->graph == graph && i < call->n_inputs; i++)
    adj_value_foreach (&call->inputs[i], collect_data, list);
}

/* (transfer container): the known inputs of @graph. */
static GPtrArray *
list_known (const AdjBundle *bundle, const AdjBundleGraph *graph)
{
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (bundle);
  GPtrArray *known = g_ptr_array_new ();

  for (guint i = 0; i < adj_bundle_get_n_calls (bundle); i++)
    collect_call (adj_bundle_get_call (bundle, i), graph, known);
  for (guint i = 0; i < runs->len; i++)
    collect_call (runs->pdata[i], graph, known);
  return known;
}

static gboolean
same_data (AdjTensorData *a, AdjTensorData *b)
{
  return adj_tensor_meta_equal (adj_tensor_data_get_meta (a), adj_tensor_data_get_meta (b)) &&
         g_bytes_equal (adj_tensor_data_get_bytes (a), adj_tensor_data_get_bytes (b));
}

static gboolean
share_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const GPtrArray *known = data;

  for (guint i = 0; leaf->kind == ADJ_VALUE_DATA && i < known->len; i++)
    if (same_data (leaf->data, known->pdata[i]))
      {
        *out = ADJ_DATA (adj_tensor_data_ref (known->pdata[i]));
        return TRUE;
      }
  *out = adj_value_copy (leaf);
  return TRUE;
}

static void
clear_value (gpointer value)
{
  adj_value_clear (value);
}

/* (transfer full): node → AdjTensorData; %NULL when none are kept. */
static GHashTable *
list_values (const AdjBundle *bundle, const AdjRecordedCall *run)
{
  const AdjGraph *graph = run->graph->graph;
  GHashTable *values;

  if (adj_run_get_n_values (bundle, run) == 0)
    return NULL;
  values =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, (GDestroyNotify) adj_tensor_data_unref);
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const char *name = adj_graph_get_node (graph, i)->name;
      AdjTensorData *value = adj_bundle_get_tap (bundle, run, name, FALSE);

      if (value != NULL)
        g_hash_table_insert (values, (gpointer) name, adj_tensor_data_ref (value));
    }
  return values;
}

AdjRecordedCall *
adj_session_move_run (const AdjBundle *from,
                      const AdjRecordedCall *run,
                      const AdjBundle *to,
                      GError **error)
{
  const AdjBundleGraph *graph = adj_bundle_find_graph (to, run->graph->id, NULL);
  g_autofree char *ran = adj_bundle_graph_fingerprint (run->graph->graph);
  g_autofree char *there = graph != NULL ? adj_bundle_graph_fingerprint (graph->graph) : NULL;
  g_autoptr (GHashTable) values = NULL;
  g_autoptr (GPtrArray) known = NULL;
  g_autoptr (GArray) inputs = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  AdjRecordedCall call = *run;

  if (g_strcmp0 (ran, there) != 0)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_STALE,
                   "it holds no graph '%s' that is the one that ran", run->graph->id);
      return NULL;
    }
  values = list_values (from, run);
  known = list_known (to, graph);
  g_array_set_clear_func (inputs, clear_value);
  g_array_set_size (inputs, run->n_inputs);
  for (guint i = 0; i < run->n_inputs; i++)
    adj_value_map (&run->inputs[i], share_leaf, known, &g_array_index (inputs, AdjValue, i));
  call.graph = graph;
  call.inputs = (const AdjValue *) (gpointer) inputs->data;
  return adj_run_new (&call, values);
}
