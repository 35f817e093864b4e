/* SPDX-License-Identifier: MIT */
#include "formats/adj-bundle.h"

#include <string.h>

#include "formats/adj-bundle-private.h"

typedef struct
{
  AdjRecordedCall call; /* first: what callers hold is this */
  AdjTapFunc get_tap;
  gpointer tap_data;
  GDestroyNotify destroy;
  GHashTable *taps[2]; /* node → AdjTensorData or NULL, in f32 and in f64 */
} Call;

struct _AdjBundle
{
  gatomicrefcount ref_count;
  AdjArena *arena;
  GPtrArray *graphs;  /* AdjBundleGraph, in the arena */
  GPtrArray *regions; /* AdjRegion, in the arena */
  GPtrArray *calls;   /* Call */
  GHashTable *by_id;
  GHashTable *texts;          /* id → GBytes */
  GHashTable *kept;           /* key → JSON */
  GHashTable *kept_in_graphs; /* id → JSON */
  GHashTable *kept_entries;   /* name → GBytes */
  const char *description;
  AdjDiags *diags;
  GMutex lock; /* for the taps, which are asked for one by one */
};

struct _AdjBundleBuilder
{
  AdjBundle *bundle;
};

/* -- reading one -- */

static void
free_tap (gpointer data)
{
  if (data != NULL)
    adj_tensor_data_unref (data);
}

static void
clear_values (const AdjValue *values, guint n)
{
  for (guint i = 0; i < n; i++)
    adj_value_clear ((AdjValue *) &values[i]);
}

static void
free_call (gpointer data)
{
  Call *call = data;

  clear_values (call->call.inputs, call->call.n_inputs);
  clear_values (call->call.outputs, call->call.n_outputs);
  if (call->call.rng != NULL)
    clear_values (call->call.rng, 1);
  if (call->destroy != NULL)
    call->destroy (call->tap_data);
  g_hash_table_unref (call->taps[0]);
  g_hash_table_unref (call->taps[1]);
  g_free (call);
}

AdjBundle *
adj_bundle_ref (AdjBundle *bundle)
{
  g_atomic_ref_count_inc (&bundle->ref_count);
  return bundle;
}

void
adj_bundle_unref (AdjBundle *bundle)
{
  if (bundle == NULL || !g_atomic_ref_count_dec (&bundle->ref_count))
    return;

  g_ptr_array_unref (bundle->calls);
  for (guint i = 0; i < bundle->regions->len; i++)
    {
      const AdjRegion *region = bundle->regions->pdata[i];

      if (region->metadata != NULL)
        clear_values (region->metadata, 1);
    }
  g_ptr_array_unref (bundle->regions);
  for (guint i = 0; i < bundle->graphs->len; i++)
    adj_graph_unref (((AdjBundleGraph *) bundle->graphs->pdata[i])->graph);
  g_ptr_array_unref (bundle->graphs);
  g_hash_table_unref (bundle->by_id);
  g_hash_table_unref (bundle->texts);
  g_hash_table_unref (bundle->kept);
  g_hash_table_unref (bundle->kept_in_graphs);
  g_hash_table_unref (bundle->kept_entries);
  g_clear_pointer (&bundle->diags, adj_diags_free);
  adj_arena_free (bundle->arena);
  g_mutex_clear (&bundle->lock);
  g_free (bundle);
}

guint
adj_bundle_get_n_graphs (const AdjBundle *bundle)
{
  return bundle->graphs->len;
}

const AdjBundleGraph *
adj_bundle_get_graph (const AdjBundle *bundle, guint index)
{
  g_return_val_if_fail (index < bundle->graphs->len, NULL);

  return bundle->graphs->pdata[index];
}

static const AdjBundleGraph *
find_in_region (const AdjBundle *bundle, guint index, const char *role)
{
  const AdjRegion *region;

  if (index >= bundle->regions->len)
    return NULL;
  region = bundle->regions->pdata[index];
  for (guint i = 0; i < region->n_graphs; i++)
    if (strcmp (region->graphs[i]->role, role) == 0)
      return region->graphs[i];
  return NULL;
}

/* What somebody who names no graph wants to see. */
static const AdjBundleGraph *
find_default (const AdjBundle *bundle)
{
  static const char *const roles[] = { "joint", "forward", "inference", "dynamo" };
  const AdjBundleGraph *found = NULL;

  if (bundle->graphs->len == 1)
    return bundle->graphs->pdata[0];
  for (guint i = 0; i < G_N_ELEMENTS (roles) && found == NULL; i++)
    found = find_in_region (bundle, 0, roles[i]);
  return found;
}

static void
fail_to_find (const AdjBundle *bundle, const char *id, guint n_matches, GError **error)
{
  g_autoptr (GString) list = g_string_new (NULL);
  guint n_listed = 0;

  for (guint i = 0; i < bundle->graphs->len && n_listed < 20; i++)
    {
      const AdjBundleGraph *graph = bundle->graphs->pdata[i];

      if (n_matches > 0 && strcmp (graph->role, id) != 0)
        continue;
      g_string_append_printf (list, "%s%s", n_listed++ > 0 ? ", " : "", graph->id);
    }
  if (bundle->graphs->len == 0)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "the file holds no graph");
  else if (id == NULL || *id == '\0')
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "which graph? There are %s", list->str);
  else if (n_matches > 0)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%u graphs are '%s': %s", n_matches, id,
                 list->str);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "no graph '%s'; there are %s", id,
                 list->str);
}

const AdjBundleGraph *
adj_bundle_find_graph (const AdjBundle *bundle, const char *id, GError **error)
{
  const AdjBundleGraph *found = NULL;
  guint n_matches = 0;

  if (id == NULL || *id == '\0')
    found = find_default (bundle);
  else if ((found = g_hash_table_lookup (bundle->by_id, id)) == NULL)
    for (guint i = 0; i < bundle->graphs->len; i++)
      {
        const AdjBundleGraph *graph = bundle->graphs->pdata[i];

        if (strcmp (graph->role, id) != 0)
          continue;
        n_matches++;
        found = graph;
      }
  if (found == NULL || n_matches > 1)
    {
      fail_to_find (bundle, id, n_matches, error);
      return NULL;
    }
  return found;
}

guint
adj_bundle_get_n_regions (const AdjBundle *bundle)
{
  return bundle->regions->len;
}

const AdjRegion *
adj_bundle_get_region (const AdjBundle *bundle, guint index)
{
  g_return_val_if_fail (index < bundle->regions->len, NULL);

  return bundle->regions->pdata[index];
}

const AdjRegion *
adj_bundle_find_region (const AdjBundle *bundle, const AdjBundleGraph *graph)
{
  for (guint i = 0; i < bundle->regions->len; i++)
    {
      const AdjRegion *region = bundle->regions->pdata[i];

      for (guint k = 0; k < region->n_graphs; k++)
        if (region->graphs[k] == graph)
          return region;
    }
  return NULL;
}

guint
adj_bundle_get_n_calls (const AdjBundle *bundle)
{
  return bundle->calls->len;
}

const AdjRecordedCall *
adj_bundle_get_call (const AdjBundle *bundle, guint index)
{
  g_return_val_if_fail (index < bundle->calls->len, NULL);

  return bundle->calls->pdata[index];
}

const AdjRecordedCall *
adj_bundle_find_call (const AdjBundle *bundle, const AdjBundleGraph *graph, guint n)
{
  for (guint i = 0; i < bundle->calls->len; i++)
    {
      const AdjRecordedCall *call = bundle->calls->pdata[i];

      if (call->graph == graph && call->n == n)
        return call;
    }
  return NULL;
}

AdjTensorData *
bundle_get_own_tap (const AdjBundle *bundle,
                    const AdjRecordedCall *recorded,
                    const char *node,
                    gboolean float64)
{
  Call *call = (Call *) recorded;
  GMutex *lock = (GMutex *) &bundle->lock;
  GHashTable *known = call->taps[float64 ? 1 : 0];
  gpointer found = NULL;

  if (call->get_tap == NULL)
    return NULL;
  g_mutex_lock (lock);
  if (!g_hash_table_lookup_extended (known, node, NULL, &found))
    {
      found = call->get_tap (node, float64, call->tap_data);
      g_hash_table_insert (known, g_strdup (node), found);
    }
  g_mutex_unlock (lock);
  return found;
}

AdjTensorData *
adj_bundle_get_tap (const AdjBundle *bundle,
                    const AdjRecordedCall *call,
                    const char *node,
                    gboolean float64)
{
  const AdjRegion *region = adj_bundle_find_region (bundle, call->graph);
  AdjTensorData *found = bundle_get_own_tap (bundle, call, node, float64);

  for (guint i = 0; found == NULL && region != NULL && i < region->n_graphs; i++)
    {
      const AdjRecordedCall *joint = NULL;

      if (strcmp (region->graphs[i]->role, "joint") == 0)
        joint = adj_bundle_find_call (bundle, region->graphs[i], call->n);
      if (joint != NULL && joint != call)
        found = bundle_get_own_tap (bundle, joint, node, float64);
    }
  return found;
}

const char *
adj_bundle_get_description (const AdjBundle *bundle)
{
  return bundle->description;
}

const AdjDiags *
adj_bundle_get_diags (const AdjBundle *bundle)
{
  return bundle->diags;
}

GBytes *
adj_bundle_get_text (const AdjBundle *bundle, const char *id)
{
  return g_hash_table_lookup (bundle->texts, id);
}

const char *
bundle_get_kept (const AdjBundle *bundle, const char *key)
{
  return g_hash_table_lookup (bundle->kept, key);
}

const char *
bundle_get_kept_in_graph (const AdjBundle *bundle, const char *id)
{
  return g_hash_table_lookup (bundle->kept_in_graphs, id);
}

GBytes *
bundle_get_kept_entry (const AdjBundle *bundle, const char *name)
{
  return g_hash_table_lookup (bundle->kept_entries, name);
}

static gint
compare_keys (gconstpointer a, gconstpointer b)
{
  return strcmp (a, b);
}

GList *
bundle_list_kept (const AdjBundle *bundle)
{
  return g_list_sort (g_hash_table_get_keys (bundle->kept), compare_keys);
}

gboolean
bundle_has_taps (const AdjRecordedCall *call)
{
  return ((const Call *) call)->get_tap != NULL;
}

gboolean
bundle_shares_taps (const AdjRecordedCall *a, const AdjRecordedCall *b)
{
  const Call *first = (const Call *) a, *second = (const Call *) b;

  return first->get_tap == second->get_tap && first->tap_data == second->tap_data;
}

/* -- making one -- */

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
  bundle->calls = g_ptr_array_new_with_free_func (free_call);
  bundle->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  bundle->texts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  bundle->kept = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  bundle->kept_in_graphs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  bundle->kept_entries =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  bundle->description = "";
  builder->bundle = bundle;
  return builder;
}

void
adj_bundle_builder_free (AdjBundleBuilder *builder)
{
  if (builder == NULL)
    return;
  adj_bundle_unref (builder->bundle);
  g_free (builder);
}

static const char *
take_text (AdjBundle *bundle, const char *text)
{
  return text != NULL ? adj_arena_strdup (bundle->arena, text) : NULL;
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
  AdjBundleGraph *copy;

  g_return_val_if_fail (graph->graph != NULL && graph->id != NULL, FALSE);

  if (!check_id (graph->id, g_hash_table_contains (bundle->by_id, graph->id), error))
    return FALSE;
  copy = adj_arena_memdup (bundle->arena, graph, sizeof *graph);
  copy->id = take_text (bundle, graph->id);
  copy->title = take_text (bundle, graph->title != NULL ? graph->title : graph->id);
  copy->role = take_text (bundle, graph->role != NULL ? graph->role : "user");
  copy->compile_id = take_text (bundle, graph->compile_id);
  copy->graph = adj_graph_ref (graph->graph);
  g_hash_table_insert (bundle->by_id, (gpointer) copy->id, copy);
  g_ptr_array_add (bundle->graphs, copy);
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

static const AdjValue *
take_values (AdjBundle *bundle, const AdjValue *values, guint n)
{
  AdjValue *copy;

  if (n == 0 || values == NULL)
    return NULL;
  copy = adj_arena_new0 (bundle->arena, AdjValue, n);
  for (guint i = 0; i < n; i++)
    copy[i] = adj_value_copy (&values[i]);
  return copy;
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
  gboolean taken = FALSE;

  for (guint i = 0; i < bundle->regions->len; i++)
    taken = taken || strcmp (((AdjRegion *) bundle->regions->pdata[i])->id, region->id) == 0;
  if (!check_id (region->id, taken, error))
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
  copy->metadata = take_values (bundle, region->metadata, 1);
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
  Call *copy;

  if (graph == NULL)
    return FALSE;
  if (adj_bundle_find_call (bundle, graph, call->n) != NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY, "call %u of graph '%s' stands twice",
                   call->n, graph_id);
      return FALSE;
    }
  copy = g_new0 (Call, 1);
  copy->call = *call;
  copy->call.graph = graph;
  copy->call.inputs = take_values (bundle, call->inputs, call->n_inputs);
  copy->call.outputs = take_values (bundle, call->outputs, call->n_outputs);
  copy->call.rng = take_values (bundle, call->rng, 1);
  for (guint i = 0; i < 2; i++)
    copy->taps[i] = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_tap);
  g_ptr_array_add (bundle->calls, copy);
  return TRUE;
}

void
adj_bundle_builder_set_taps (AdjBundleBuilder *builder,
                             AdjTapFunc get,
                             gpointer data,
                             GDestroyNotify destroy)
{
  GPtrArray *calls = builder->bundle->calls;
  Call *call;

  g_return_if_fail (calls->len > 0);

  call = calls->pdata[calls->len - 1];
  if (call->destroy != NULL)
    call->destroy (call->tap_data);
  call->get_tap = get;
  call->tap_data = data;
  call->destroy = destroy;
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

AdjBundle *
adj_bundle_builder_end (AdjBundleBuilder *builder, AdjDiags *diags)
{
  AdjBundle *bundle = builder->bundle;

  bundle->diags = diags != NULL ? diags : adj_diags_new ();
  g_free (builder);
  return bundle;
}
