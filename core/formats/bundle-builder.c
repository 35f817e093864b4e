/* SPDX-License-Identifier: MIT */
/* Builds an AdjBundle: graphs, regions and calls are added, checked against each other and
 * sealed. */

#include <string.h>

#include "analysis/adj-blocks.h"
#include "formats/adj-bundle-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"

struct _AdjBundleBuilder
{
  AdjBundle *bundle;
  GHashTable *region_ids; /* set of ids that the bundle owns */
  BundleCall *last;       /* (unowned) (nullable): the call or run that was added last */
};

static void
free_loose (gpointer data)
{
  BundleTensor *loose = data;

  g_free (loose->file);
  g_free (loose->key);
  adj_tensor_data_unref (loose->data);
  g_free (loose);
}

AdjBundleBuilder *
adj_bundle_builder_new (void)
{
  AdjBundleBuilder *builder = g_new0 (AdjBundleBuilder, 1);
  AdjBundle *bundle = g_new0 (AdjBundle, 1);

  g_atomic_ref_count_init (&bundle->ref_count);
  g_mutex_init (&bundle->lock);
  bundle->arena = adj_arena_new ();
  bundle->graphs = g_ptr_array_new ();
  bundle->regions = g_ptr_array_new ();
  bundle->calls = g_ptr_array_new_with_free_func (bundle_call_unref);
  bundle->weights = g_ptr_array_new_with_free_func (bundle_call_unref);
  bundle->runs = g_ptr_array_new_with_free_func (bundle_call_unref);
  bundle->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  bundle->texts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  bundle->kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  bundle->kept_in_graphs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  bundle->loose = g_ptr_array_new_with_free_func (free_loose);
  bundle->facts = g_array_new (FALSE, FALSE, sizeof (BundleFact));
  g_array_set_clear_func (bundle->facts, bundle_fact_clear);
  bundle->kept_entries =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  bundle->description = "";
  builder->bundle = bundle;
  builder->region_ids = g_hash_table_new (g_str_hash, g_str_equal);
  return builder;
}

void
adj_bundle_builder_free (AdjBundleBuilder *builder)
{
  if (builder == NULL)
    return;
  adj_bundle_unref (builder->bundle);
  g_hash_table_unref (builder->region_ids);
  g_free (builder);
}

static const char *
take_text (AdjBundle *bundle, const char *text)
{
  return text != NULL ? adj_arena_strdup (bundle->arena, text) : NULL;
}

static void
add_copy (AdjBundle *bundle, const AdjBundleGraph *graph)
{
  AdjBundleGraph *copy = adj_arena_memdup (bundle->arena, graph, sizeof *graph);

  copy->id = take_text (bundle, graph->id);
  copy->title = take_text (bundle, graph->title != NULL ? graph->title : graph->id);
  copy->role = take_text (bundle, graph->role != NULL ? graph->role : "user");
  copy->compile_id = take_text (bundle, graph->compile_id);
  copy->graph = adj_graph_ref (graph->graph);
  g_hash_table_insert (bundle->by_id, (gpointer) copy->id, copy);
  g_ptr_array_add (bundle->graphs, copy);
}

AdjBundleBuilder *
bundle_builder_copy (const AdjBundleBuilder *builder)
{
  const AdjBundle *from = builder->bundle;
  AdjBundleBuilder *copy = adj_bundle_builder_new ();

  for (guint i = 0; i < from->graphs->len; i++)
    {
      const AdjBundleGraph *graph = from->graphs->pdata[i];
      GBytes *text = g_hash_table_lookup (from->texts, graph->id);

      add_copy (copy->bundle, graph);
      if (text != NULL)
        adj_bundle_builder_set_text (copy, graph->id, text);
    }
  for (guint i = 0; i < from->facts->len; i++)
    {
      const BundleFact *fact = &g_array_index (from->facts, BundleFact, i);

      adj_bundle_builder_add_fact (copy, &fact->fact, fact->region);
    }
  bundle_builder_set_torch_version (copy, from->torch_version);
  return copy;
}

static gint
regions_by_rank (gconstpointer a, gconstpointer b)
{
  const AdjRegion *x = *(AdjRegion *const *) a, *y = *(AdjRegion *const *) b;

  return (x->rank > y->rank) - (x->rank < y->rank);
}

static gint
graphs_by_rank (gconstpointer a, gconstpointer b)
{
  const AdjBundleGraph *x = *(AdjBundleGraph *const *) a, *y = *(AdjBundleGraph *const *) b;

  return (x->rank > y->rank) - (x->rank < y->rank);
}

void
bundle_builder_sort_by_rank (AdjBundleBuilder *builder)
{
  g_ptr_array_sort (builder->bundle->graphs, graphs_by_rank);
  g_ptr_array_sort (builder->bundle->regions, regions_by_rank);
}

AdjBundle *
bundle_builder_get (AdjBundleBuilder *builder)
{
  return builder->bundle;
}

const AdjBundle *
bundle_builder_peek (const AdjBundleBuilder *builder)
{
  return builder->bundle;
}

void
adj_bundle_builder_set_recording (AdjBundleBuilder *builder, AdjRecording *recording)
{
  g_clear_pointer (&builder->bundle->recording, adj_recording_unref);
  builder->bundle->recording = adj_recording_ref (recording);
}

/* @value: (nullable) */
static const AdjValue *
take_value (AdjBundle *bundle, const AdjValue *value)
{
  AdjValue *copy;

  if (value == NULL)
    return NULL;
  copy = adj_arena_new0 (bundle->arena, AdjValue, 1);
  *copy = adj_value_copy (value);
  return copy;
}

void
bundle_builder_set_torch_version (AdjBundleBuilder *builder, const char *version)
{
  builder->bundle->torch_version = take_text (builder->bundle, version);
}

void
bundle_builder_set_random_source (AdjBundleBuilder *builder, AdjRandomSource source)
{
  builder->bundle->has_random_source = TRUE;
  builder->bundle->random_source = source;
}

void
bundle_builder_set_gpu_threads (AdjBundleBuilder *builder, gint64 n_threads)
{
  builder->bundle->gpu_threads = n_threads;
}

void
adj_bundle_builder_set_description (AdjBundleBuilder *builder, const char *text)
{
  builder->bundle->description = take_text (builder->bundle, text);
}

gboolean
bundle_is_id (const char *id)
{
  gsize length = strlen (id);

  if (length == 0 || length > BUNDLE_MAX_ID)
    return FALSE;
  for (gsize i = 0; i < length; i++)
    if (!g_ascii_islower (id[i]) && !g_ascii_isdigit (id[i]) && id[i] != '_' && id[i] != '-')
      return FALSE;
  return TRUE;
}

static gboolean
check_id (const char *id, gboolean taken, GError **error)
{
  if (bundle_is_id (id) && !taken)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
               taken ? "the id '%s' stands twice" : "'%s' is no id of a-z, 0-9, '_', '-'", id);
  return FALSE;
}

gboolean
adj_bundle_builder_add_graph (AdjBundleBuilder *builder,
                              const AdjBundleGraph *graph,
                              GError **error)
{
  AdjBundle *bundle = builder->bundle;

  g_return_val_if_fail (graph->graph != NULL && graph->id != NULL, FALSE);

  if (!check_id (graph->id, g_hash_table_contains (bundle->by_id, graph->id), error))
    return FALSE;
  if (g_strcmp0 (graph->role, "compiled_autograd") == 0)
    captured_sizes_learn (graph->graph);
  add_copy (bundle, graph);
  return TRUE;
}

static const AdjBundleGraph *
find_by_id (const AdjBundle *bundle, const char *id, GError **error)
{
  const AdjBundleGraph *graph = g_hash_table_lookup (bundle->by_id, id);

  if (graph == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "there is no graph '%s'", id);
  return graph;
}

/* The graph of @role; %NULL when the region has none, or several. */
static AdjGraph *
find_by_role (const AdjRegion *region, const char *role)
{
  AdjGraph *found = NULL;

  for (guint i = 0; i < region->n_graphs; i++)
    if (strcmp (region->graphs[i]->role, role) == 0)
      {
        if (found != NULL)
          return NULL;
        found = region->graphs[i]->graph;
      }
  return found;
}

static gboolean
is_input (const AdjGraph *graph, const char *name)
{
  AdjNodeId id = adj_graph_find_node (graph, name);

  AdjInputRole role =
      adj_node_id_is_valid (id) ? adj_graph_get_input_role (graph, id.index) : ADJ_INPUT_NONE;

  return role != ADJ_INPUT_NONE && role != ADJ_INPUT_TANGENT;
}

/* Whether it is a generator state, which the partitioner renames in the backward graph. */
static gboolean
is_saved_state (const char *name)
{
  return g_str_has_prefix (name, "rng_state_output");
}

/* The number of outputs of the function.  The forward graph returns them first, then the saved
 * values, which are inputs of the backward graph under the same names (generator states under other
 * names).  -1 when the two graphs do not fit. */
static gint
count_fwd_outputs (const AdjRegion *region)
{
  AdjGraph *forward = find_by_role (region, "forward");
  AdjGraph *backward = find_by_role (region, "backward");
  const AdjValue *returned;
  guint n_saved = 0, n_states = 0, n_inputs, n;

  if (forward == NULL || backward == NULL)
    return -1;
  returned = &adj_graph_get_node (forward, adj_graph_get_output (forward).index)->args.items[0];
  if (returned->kind != ADJ_VALUE_TUPLE && returned->kind != ADJ_VALUE_LIST)
    return -1;
  n_inputs = adj_graph_get_n_inputs (backward);
  for (guint i = 0; i < n_inputs; i++)
    {
      guint input = adj_graph_get_input (backward, i).index;

      n_saved += adj_graph_get_input_role (backward, input) != ADJ_INPUT_TANGENT;
      n_states += is_saved_state (adj_graph_get_node (backward, input)->name);
    }
  if (n_saved > returned->n)
    return -1;
  n = returned->n - n_saved;
  for (guint i = n; i < returned->n; i++)
    if (returned->items[i].kind != ADJ_VALUE_NODE ||
        (!is_input (backward, adj_graph_get_node (forward, returned->items[i].node.index)->name) &&
         n_states-- == 0))
      return -1;
  return (gint) n;
}

gboolean
adj_bundle_builder_add_region (AdjBundleBuilder *builder,
                               const AdjRegion *region,
                               const char *const *graph_ids,
                               GError **error)
{
  AdjBundle *bundle = builder->bundle;
  AdjRegion *copy;
  const AdjBundleGraph **graphs = NULL;

  if (!check_id (region->id, g_hash_table_contains (builder->region_ids, region->id), error))
    return FALSE;
  if (region->n_graphs > 0)
    graphs = adj_arena_new0 (bundle->arena, const AdjBundleGraph *, region->n_graphs);
  for (guint i = 0; i < region->n_graphs; i++)
    if ((graphs[i] = find_by_id (bundle, graph_ids[i], error)) == NULL)
      return FALSE;
  copy = adj_arena_memdup (bundle->arena, region, sizeof *region);
  copy->id = take_text (bundle, region->id);
  copy->compile_id = take_text (bundle, region->compile_id);
  copy->graphs = graphs;
  copy->metadata = take_value (bundle, region->metadata);
  copy->partition = take_value (bundle, region->partition);
  copy->capture = take_value (bundle, region->capture);
  if (copy->num_fwd_outputs < 0)
    copy->num_fwd_outputs = count_fwd_outputs (copy);
  g_hash_table_add (builder->region_ids, (gpointer) copy->id);
  g_ptr_array_add (bundle->regions, copy);
  return TRUE;
}

gboolean
adj_bundle_builder_add_call (AdjBundleBuilder *builder,
                             const AdjRecordedCall *call,
                             const char *graph_id,
                             GError **error)
{
  AdjBundle *bundle = builder->bundle;
  const AdjBundleGraph *graph = find_by_id (bundle, graph_id, error);
  AdjRecordedCall whole = *call;

  if (graph == NULL)
    return FALSE;
  if (call->origin == NULL && adj_bundle_find_call (bundle, graph, call->n) != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "call %u of graph '%s' stands twice",
                   call->n, graph_id);
      return FALSE;
    }
  if (call->origin != NULL && bundle_find_run_in (bundle->runs, graph, call->origin->name) != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "two runs of graph '%s' are named '%s'",
                   graph_id, call->origin->name);
      return FALSE;
    }
  whole.graph = graph;
  builder->last = bundle_call_new (&whole);
  g_ptr_array_add (call->origin != NULL ? bundle->runs : bundle->calls, builder->last);
  return TRUE;
}

gboolean
bundle_builder_add_weights (AdjBundleBuilder *builder,
                            const char *graph_id,
                            const AdjValue *inputs,
                            guint n_inputs,
                            GError **error)
{
  AdjRecordedCall known = { .graph = find_by_id (builder->bundle, graph_id, error),
                            .n_inputs = n_inputs,
                            .inputs = inputs };

  if (known.graph == NULL)
    return FALSE;
  if (n_inputs != adj_graph_get_n_inputs (known.graph->graph))
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
                   "graph '%s' has %u inputs, and there are weights of %u", graph_id,
                   adj_graph_get_n_inputs (known.graph->graph), n_inputs);
      return FALSE;
    }
  g_ptr_array_add (builder->bundle->weights, bundle_call_new (&known));
  return TRUE;
}

gboolean
bundle_builder_last_is_stale (const AdjBundleBuilder *builder)
{
  return builder->last != NULL && builder->last->stale;
}

void
adj_bundle_builder_set_taps (AdjBundleBuilder *builder,
                             AdjTapFunc get,
                             gpointer data,
                             GDestroyNotify destroy)
{
  g_return_if_fail (builder->last != NULL);

  bundle_call_set_taps (builder->last, get, data, destroy);
}

void
adj_bundle_builder_set_text (AdjBundleBuilder *builder, const char *graph_id, GBytes *text)
{
  g_hash_table_insert (builder->bundle->texts, g_strdup (graph_id), g_bytes_ref (text));
}

void
bundle_builder_keep (AdjBundleBuilder *builder, const char *key, const char *json)
{
  g_hash_table_insert (builder->bundle->kept, g_strdup (key), g_strdup (json));
}

void
bundle_builder_keep_in_graph (AdjBundleBuilder *builder, const char *id, const char *json)
{
  g_hash_table_insert (builder->bundle->kept_in_graphs, g_strdup (id), g_strdup (json));
}

void
bundle_builder_keep_entry (AdjBundleBuilder *builder, const char *name, GBytes *bytes)
{
  g_hash_table_insert (builder->bundle->kept_entries, g_strdup (name), g_bytes_ref (bytes));
}

void
bundle_builder_keep_tensor (AdjBundleBuilder *builder,
                            const char *file,
                            const char *key,
                            AdjTensorData *data)
{
  BundleTensor *loose = g_new (BundleTensor, 1);

  *loose = (BundleTensor){ g_strdup (file), g_strdup (key), adj_tensor_data_ref (data) };
  g_ptr_array_add (builder->bundle->loose, loose);
}

/* Where nodes have no module names, the graphs of a region take over the blocks of its joint graph.
 */
static void
share_blocks (const AdjBundle *bundle)
{
  for (guint r = 0; r < bundle->regions->len; r++)
    {
      const AdjRegion *region = bundle->regions->pdata[r];
      AdjGraph *joint = NULL;

      for (guint i = 0; i < region->n_graphs && joint == NULL; i++)
        if (adj_bundle_graph_is_undecided (region->graphs[i]))
          joint = region->graphs[i]->graph;
      for (guint i = 0; i < region->n_graphs && joint != NULL; i++)
        if (region->graphs[i]->graph != joint)
          adj_graph_follow_blocks (region->graphs[i]->graph, joint);
    }
}

AdjBundle *
adj_bundle_builder_end (AdjBundleBuilder *builder, AdjDiags *diags)
{
  AdjBundle *bundle = builder->bundle;

  bundle->diags = diags != NULL ? diags : adj_diags_new ();
  bundle_place_facts (bundle);
  share_blocks (bundle);
  g_hash_table_unref (builder->region_ids);
  g_free (builder);
  return bundle;
}
