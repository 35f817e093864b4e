/* SPDX-License-Identifier: MIT */
/* AdjBundle: what a file held, asked for by id, role and region. */

#include "formats/adj-bundle.h"

#include <string.h>

#include "formats/adj-bundle-internal.h"
#include "formats/adj-bundle-private.h"
#include "ir/adj-graph.h"

/* -- reading one -- */

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
  g_ptr_array_unref (bundle->weights);
  g_ptr_array_unref (bundle->runs);
  for (guint i = 0; i < bundle->regions->len; i++)
    {
      const AdjRegion *region = bundle->regions->pdata[i];

      if (region->metadata != NULL)
        adj_value_clear ((AdjValue *) region->metadata);
      if (region->partition != NULL)
        adj_value_clear ((AdjValue *) region->partition);
      if (region->capture != NULL)
        adj_value_clear ((AdjValue *) region->capture);
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
  g_ptr_array_unref (bundle->loose);
  g_array_unref (bundle->facts);
  g_clear_pointer (&bundle->recording, adj_recording_unref);
  g_clear_pointer (&bundle->diags, adj_diags_free);
  adj_arena_free (bundle->arena);
  g_mutex_clear (&bundle->lock);
  g_free (bundle);
}

const AdjValue *
adj_bundle_get_weights (const AdjBundle *bundle, const AdjBundleGraph *graph, guint *n)
{
  for (guint i = 0; i < bundle->weights->len; i++)
    {
      const AdjRecordedCall *known = bundle->weights->pdata[i];

      if (known->graph == graph)
        {
          *n = known->n_inputs;
          return known->inputs;
        }
    }
  return NULL;
}

AdjRecording *
adj_bundle_get_recording (const AdjBundle *bundle)
{
  return bundle->recording;
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

/* The graph to show when none is named. */
static const AdjBundleGraph *
find_default (const AdjBundle *bundle)
{
  static const char *const roles[] = { "joint", "forward", "inference", "dynamo",
                                       "compiled_autograd" };
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

const AdjBundleGraph *
adj_bundle_find_entry (const AdjBundle *bundle, const AdjGraph *graph)
{
  for (guint i = 0; i < bundle->graphs->len; i++)
    {
      const AdjBundleGraph *entry = bundle->graphs->pdata[i];

      if (entry->graph == graph)
        return entry;
    }
  return NULL;
}

gboolean
adj_bundle_graph_is_undecided (const AdjBundleGraph *graph)
{
  return strcmp (graph->role, "joint") == 0 || strcmp (graph->role, "tag") == 0;
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
  BundleCall *call = (BundleCall *) recorded;
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

/* Whether the graph's nodes keep the names of the joint graph.  Other graphs of the region share
 * only some of the names. */
static gboolean
is_part_of_joint (const AdjBundleGraph *graph)
{
  return strcmp (graph->role, "forward") == 0 || strcmp (graph->role, "backward") == 0;
}

static const AdjBundleGraph *
find_joint (const AdjRegion *region)
{
  for (guint i = 0; i < region->n_graphs; i++)
    if (strcmp (region->graphs[i]->role, "joint") == 0)
      return region->graphs[i];
  return NULL;
}

/* Whether the node @name of @part has no counterpart in @joint.  Passes after the partition add
 * nodes without annotation (for generator states), numbered after those of their own graph; in the
 * joint graph such a name may belong to another node. */
static gboolean
is_added (AdjGraph *part, AdjGraph *joint, const char *name)
{
  AdjNodeId here = adj_graph_find_node (part, name), there = adj_graph_find_node (joint, name);

  return adj_node_id_is_valid (here) && adj_node_id_is_valid (there) &&
         adj_graph_get_node (part, here.index)->val.kind == ADJ_VALUE_NONE &&
         adj_graph_get_node (joint, there.index)->val.kind != ADJ_VALUE_NONE;
}

AdjTensorData *
adj_bundle_get_tap (const AdjBundle *bundle,
                    const AdjRecordedCall *call,
                    const char *node,
                    gboolean float64)
{
  const AdjRegion *region = adj_bundle_find_region (bundle, call->graph);
  const AdjBundleGraph *joint = region != NULL ? find_joint (region) : NULL;
  const AdjRecordedCall *of_joint;
  AdjTensorData *found;

  if (joint == NULL || call->origin != NULL || !is_part_of_joint (call->graph))
    return bundle_get_own_tap (bundle, call, node, float64);
  if (is_added (call->graph->graph, joint->graph, node))
    return NULL;
  found = bundle_get_own_tap (bundle, call, node, float64);
  of_joint = adj_bundle_find_call (bundle, joint, call->n);
  return found != NULL || of_joint == NULL ? found
                                           : bundle_get_own_tap (bundle, of_joint, node, float64);
}

const char *
adj_bundle_get_description (const AdjBundle *bundle)
{
  return bundle->description;
}

const char *
adj_bundle_get_torch_version (const AdjBundle *bundle)
{
  return bundle->torch_version;
}

gboolean
adj_bundle_get_random_source (const AdjBundle *bundle, AdjRandomSource *source)
{
  if (bundle->has_random_source)
    *source = bundle->random_source;
  return bundle->has_random_source;
}

gint64
adj_bundle_get_gpu_threads (const AdjBundle *bundle)
{
  return bundle->gpu_threads;
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
bundle_dup_kept_entry (const AdjBundle *bundle, const char *name)
{
  GMutex *lock = (GMutex *) &bundle->lock;
  GBytes *bytes;

  g_mutex_lock (lock);
  bytes = g_hash_table_lookup (bundle->kept_entries, name);
  if (bytes != NULL)
    g_bytes_ref (bytes);
  g_mutex_unlock (lock);
  return bytes;
}

GBytes *
adj_bundle_dup_notes (const AdjBundle *bundle)
{
  g_return_val_if_fail (bundle != NULL, NULL);

  return bundle_dup_kept_entry (bundle, BUNDLE_NOTES);
}

void
adj_bundle_set_notes (AdjBundle *bundle, GBytes *notes)
{
  g_return_if_fail (bundle != NULL);
  g_return_if_fail (notes != NULL);

  g_mutex_lock (&bundle->lock);
  g_hash_table_insert (bundle->kept_entries, g_strdup (BUNDLE_NOTES), g_bytes_ref (notes));
  g_mutex_unlock (&bundle->lock);
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
  return ((const BundleCall *) call)->get_tap != NULL;
}

gboolean
bundle_shares_taps (const AdjRecordedCall *a, const AdjRecordedCall *b)
{
  const BundleCall *first = (const BundleCall *) a, *second = (const BundleCall *) b;

  return first->get_tap == second->get_tap && first->tap_data == second->tap_data;
}
