/* SPDX-License-Identifier: MIT */
/* Calls of graphs: recorded calls and kept runs. */

#include <string.h>

#include "formats/adj-bundle-internal.h"
#include "formats/adj-bundle-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"

#define MAX_NAME 100

static AdjValue *
copy_values (const AdjValue *values, guint n)
{
  AdjValue *copy;

  if (values == NULL)
    return NULL;
  copy = g_new0 (AdjValue, n + 1);
  for (guint i = 0; i < n; i++)
    copy[i] = adj_value_copy (&values[i]);
  return copy;
}

/* @values: (nullable) */
static void
free_values (const AdjValue *values, guint n)
{
  for (guint i = 0; values != NULL && i < n; i++)
    adj_value_clear ((AdjValue *) &values[i]);
  g_free ((AdjValue *) values);
}

static void
free_tap (gpointer data)
{
  if (data != NULL)
    adj_tensor_data_unref (data);
}

/* -- who computed it -- */

char *
adj_bundle_graph_fingerprint (const AdjGraph *graph)
{
  g_autofree char *text =
      adj_graph_print (graph, ADJ_PRINT_NO_COMMENTS | ADJ_PRINT_NO_METADATA, NULL);

  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
}

static AdjRunOrigin *
copy_origin (const AdjRunOrigin *origin, const AdjGraph *graph, gboolean *stale)
{
  g_autofree char *now = adj_bundle_graph_fingerprint (graph);
  AdjRunOrigin *copy = g_memdup2 (origin, sizeof *origin);

  *stale = origin->graph != NULL && !g_str_equal (origin->graph, now);
  copy->name = g_strdup (origin->name);
  copy->producer = g_strdup (origin->producer);
  copy->executor = g_strdup (origin->executor);
  copy->inputs = g_strdup (origin->inputs);
  copy->date = g_strdup (origin->date);
  copy->graph = origin->graph != NULL ? g_strdup (origin->graph) : g_steal_pointer (&now);
  return copy;
}

static void
free_origin (const AdjRunOrigin *origin)
{
  g_free ((char *) origin->name);
  g_free ((char *) origin->producer);
  g_free ((char *) origin->executor);
  g_free ((char *) origin->inputs);
  g_free ((char *) origin->date);
  g_free ((char *) origin->graph);
  g_free ((AdjRunOrigin *) origin);
}

gboolean
adj_run_name_is_valid (const char *name)
{
  gsize length = strlen (name);

  if (length == 0 || length > MAX_NAME || !g_utf8_validate (name, (gssize) length, NULL))
    return FALSE;
  for (const char *at = name; *at != '\0'; at = g_utf8_next_char (at))
    if (g_unichar_iscntrl (g_utf8_get_char (at)))
      return FALSE;
  return !g_ascii_isspace (name[0]) && !g_ascii_isspace (name[length - 1]);
}

/* -- a call -- */

BundleCall *
bundle_call_new (const AdjRecordedCall *call)
{
  BundleCall *copy = g_new0 (BundleCall, 1);

  g_atomic_ref_count_init (&copy->refs);
  copy->call = *call;
  if (call->origin != NULL)
    copy->call.origin = copy_origin (call->origin, call->graph->graph, &copy->stale);
  copy->call.inputs = copy_values (call->inputs, call->n_inputs);
  copy->call.outputs = copy_values (call->outputs, call->n_outputs);
  copy->call.rng = copy_values (call->rng, 1);
  copy->call.gradients = copy_values (call->gradients, call->n_inputs);
  copy->call.tangents = copy_values (call->tangents, call->n_outputs);
  copy->call.backward = copy_values (call->backward, 1);
  for (guint i = 0; i < G_N_ELEMENTS (copy->taps); i++)
    copy->taps[i] = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_tap);
  return copy;
}

void
bundle_call_unref (gpointer data)
{
  BundleCall *call = data;

  if (!g_atomic_ref_count_dec (&call->refs))
    return;
  free_values (call->call.inputs, call->call.n_inputs);
  free_values (call->call.outputs, call->call.n_outputs);
  free_values (call->call.rng, 1);
  free_values (call->call.gradients, call->call.n_inputs);
  free_values (call->call.tangents, call->call.n_outputs);
  free_values (call->call.backward, 1);
  if (call->call.origin != NULL)
    free_origin (call->call.origin);
  if (call->destroy != NULL)
    call->destroy (call->tap_data);
  g_hash_table_unref (call->taps[0]);
  g_hash_table_unref (call->taps[1]);
  g_free (call);
}

void
bundle_call_set_taps (BundleCall *call, AdjTapFunc get, gpointer data, GDestroyNotify destroy)
{
  if (call->destroy != NULL)
    call->destroy (call->tap_data);
  call->get_tap = get;
  call->tap_data = data;
  call->destroy = destroy;
}

/* -- runs -- */

static AdjTensorData *
get_value (const char *node, gboolean float64, gpointer values)
{
  AdjTensorData *found = float64 ? NULL : g_hash_table_lookup (values, node);

  return found != NULL ? adj_tensor_data_ref (found) : NULL;
}

AdjRecordedCall *
adj_run_new (const AdjRecordedCall *call, GHashTable *values)
{
  BundleCall *run;
  GHashTable *kept;

  g_return_val_if_fail (call->origin != NULL && call->graph != NULL, NULL);

  run = bundle_call_new (call);
  if (values == NULL)
    return &run->call;
  kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_tap);
  for (guint i = 0; i < adj_graph_get_n_nodes (call->graph->graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (call->graph->graph, i);
      AdjTensorData *value = g_hash_table_lookup (values, node->name);

      if (value != NULL && node->opcode != ADJ_OPCODE_PLACEHOLDER)
        g_hash_table_insert (kept, g_strdup (node->name), adj_tensor_data_ref (value));
    }
  bundle_call_set_taps (run, get_value, kept, (GDestroyNotify) g_hash_table_unref);
  return &run->call;
}

AdjRecordedCall *
adj_run_ref (AdjRecordedCall *run)
{
  g_atomic_ref_count_inc (&((BundleCall *) run)->refs);
  return run;
}

void
adj_run_unref (AdjRecordedCall *run)
{
  if (run != NULL)
    bundle_call_unref (run);
}

gboolean
adj_run_is_stale (const AdjRecordedCall *run)
{
  return ((const BundleCall *) run)->stale;
}

guint
adj_run_get_n_values (const AdjBundle *bundle, const AdjRecordedCall *run)
{
  AdjGraph *graph = run->graph->graph;
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += bundle_get_own_tap (bundle, run, adj_graph_get_node (graph, i)->name, FALSE) != NULL;
  return n;
}

GPtrArray *
adj_bundle_dup_runs (const AdjBundle *bundle)
{
  GMutex *lock = (GMutex *) &bundle->lock;
  GPtrArray *runs;

  g_return_val_if_fail (bundle != NULL, NULL);

  g_mutex_lock (lock);
  runs = g_ptr_array_ref (bundle->runs);
  g_mutex_unlock (lock);
  return runs;
}

void
adj_bundle_set_runs (AdjBundle *bundle, GPtrArray *runs)
{
  GPtrArray *before;

  g_return_if_fail (bundle != NULL);
  g_return_if_fail (runs != NULL);

  g_mutex_lock (&bundle->lock);
  before = bundle->runs;
  bundle->runs = g_ptr_array_ref (runs);
  g_mutex_unlock (&bundle->lock);
  g_ptr_array_unref (before);
}

const AdjRecordedCall *
bundle_find_run_in (GPtrArray *runs, const AdjBundleGraph *graph, const char *name)
{
  for (guint i = 0; i < runs->len; i++)
    {
      const AdjRecordedCall *run = runs->pdata[i];

      if (run->graph == graph && strcmp (run->origin->name, name) == 0)
        return run;
    }
  return NULL;
}

GPtrArray *
adj_runs_without (GPtrArray *runs, const AdjBundleGraph *graph, const char *name)
{
  const AdjRecordedCall *left_out = bundle_find_run_in (runs, graph, name);
  GPtrArray *others = g_ptr_array_new_with_free_func (bundle_call_unref);

  for (guint i = 0; i < runs->len; i++)
    if (runs->pdata[i] != left_out)
      g_ptr_array_add (others, adj_run_ref (runs->pdata[i]));
  return others;
}

static void
fail_to_find (GPtrArray *runs, const AdjBundleGraph *graph, const char *name, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);

  for (guint i = 0; i < runs->len; i++)
    {
      const AdjRecordedCall *run = runs->pdata[i];

      if (run->graph == graph)
        g_string_append_printf (list, "%s'%s'", list->len > 0 ? ", " : "; there are ",
                                run->origin->name);
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "no run of '%s' that was kept is named '%s'%s", graph->id, name, list->str);
}

AdjRecordedCall *
adj_bundle_find_run (const AdjBundle *bundle,
                     const AdjBundleGraph *graph,
                     const char *name,
                     GError **error)
{
  g_autoptr (GPtrArray) runs = adj_bundle_dup_runs (bundle);
  const AdjRecordedCall *found = bundle_find_run_in (runs, graph, name);

  if (found == NULL)
    {
      fail_to_find (runs, graph, name, error);
      return NULL;
    }
  return adj_run_ref ((AdjRecordedCall *) found);
}
