/* SPDX-License-Identifier: MIT */
/* Writes .adjoint: collects graphs, tensors and values, numbers them and writes the entries. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-safetensors.h"
#include "formats/adjoint-private.h"
#include "formats/adjoint-saver-private.h"
#include "formats/entries-private.h"
#include "formats/graph-json-private.h"
#include "formats/pairs-private.h"
#include "formats/recording-private.h"
#include "ir/adj-graph.h"

/* Returns: the index of the item */
static guint
take_entry (AdjointSaver *saver, char *name, GBytes *bytes)
{
  ZipItem item = { name, bytes };

  g_array_append_val (saver->items, item);
  saver->meter.size += g_bytes_get_size (bytes);
  return saver->items->len - 1;
}

/* -- which graphs -- */

static void
add_graph (AdjointSaver *saver,
           const char *id,
           const char *role,
           const AdjBundleGraph *known,
           AdjGraph *graph)
{
  SavedGraph out = { .id = id, .role = role, .known = known, .graph = graph };

  g_array_append_val (saver->graphs, out);
  g_hash_table_add (saver->taken, (gpointer) id);
  if (!g_hash_table_contains (saver->ids, graph))
    g_hash_table_insert (saver->ids, graph, (gpointer) id);
}

/* "<id of the parent>-<name>", as far as an id may hold it. */
static const char *
make_subgraph_id (AdjointSaver *saver, const char *parent, const char *name)
{
  g_autofree char *wanted = g_strdup_printf ("%s-%s", parent, name);
  char id[BUNDLE_MAX_ID + 1];
  gsize length = MIN (strlen (wanted), (gsize) BUNDLE_MAX_ID);

  for (gsize i = 0; i < length; i++)
    {
      char c = g_ascii_tolower (wanted[i]);

      id[i] = g_ascii_isalnum (c) || c == '-' ? c : '_';
    }
  id[length] = '\0';
  for (guint i = 2; g_hash_table_contains (saver->taken, id); i++)
    {
      g_autofree char *suffix = g_strdup_printf ("-%u", i);
      gsize kept = MIN (length, BUNDLE_MAX_ID - strlen (suffix));

      memcpy (id + kept, suffix, strlen (suffix) + 1);
    }
  return adj_arena_strdup (saver->arena, id);
}

typedef struct
{
  AdjointSaver *saver;
  const char *parent, *name;
} SubgraphWalk;

static void
add_subgraph (AdjointSaver *saver, const char *parent, const char *name, AdjGraph *graph)
{
  if (!g_hash_table_contains (saver->ids, graph))
    add_graph (saver, make_subgraph_id (saver, parent, name), "subgraph", NULL, graph);
}

static gboolean
add_graph_leaf (const AdjValue *leaf, gpointer data)
{
  SubgraphWalk *walk = data;

  if (leaf->kind == ADJ_VALUE_GRAPH)
    add_subgraph (walk->saver, walk->parent, walk->name, leaf->graph);
  return TRUE;
}

/* Subgraphs and constants of one graph. */
static void
collect_from_graph (AdjointSaver *saver, const char *id, AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_subgraphs (graph); i++)
    {
      const char *name;
      AdjGraph *child = adj_graph_get_subgraph (graph, i, &name);

      add_subgraph (saver, id, name, child);
    }
  for (guint i = 0; i < adj_graph_get_n_attrs (graph); i++)
    {
      const char *name;
      const AdjValue *value = adj_graph_get_attr (graph, i, &name);
      g_autofree char *key = g_strdup_printf ("%s.%s", id, name);
      SubgraphWalk walk = { saver, id, name };

      tensor_store_add_value (saver->store, "constants", key, value);
      adj_value_foreach (value, add_graph_leaf, &walk);
    }
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const AdjValue *values[] = { &node->args, &node->kwargs, &node->val, node->meta.extra };
      SubgraphWalk walk = { saver, id, node->name };
      g_autofree char *key = NULL;

      for (guint k = 0; k < G_N_ELEMENTS (values); k++)
        if (values[k] != NULL && (values[k]->n > 0 || values[k]->kind == ADJ_VALUE_OPAQUE_OBJECT))
          {
            if (key == NULL)
              key = g_strdup_printf ("%s.%s", id, node->name);
            tensor_store_add_value (saver->store, "constants", key, values[k]);
            adj_value_foreach (values[k], add_graph_leaf, &walk);
          }
    }
}

/* Where the tensors of a call go. */
typedef struct
{
  const char *file;
  const char *key; /* prefix of their keys */
} CallPlace;

/* Adds the tensors of @values (nullable) to the store. */
static void
collect_values (
    AdjointSaver *saver, const CallPlace *place, const char *kind, const AdjValue *values, guint n)
{
  for (guint i = 0; values != NULL && i < n; i++)
    {
      g_autofree char *key = g_strdup_printf ("%s.%s%u", place->key, kind, i);

      tensor_store_add_value (saver->store, place->file, key, &values[i]);
    }
}

static void
collect_from_call (AdjointSaver *saver, const AdjRecordedCall *call, const char *file, guint number)
{
  g_autofree char *key = g_strdup_printf ("%s.%u", call->graph->id, number);
  g_autofree char *rng = g_strdup_printf ("%s.rng", key);
  CallPlace place = { file, key };

  collect_values (saver, &place, "in", call->inputs, call->n_inputs);
  collect_values (saver, &place, "out", call->outputs, call->n_outputs);
  collect_values (saver, &place, "grad", call->gradients, call->n_inputs);
  collect_values (saver, &place, "tangent", call->tangents, call->n_outputs);
  collect_values (saver, &place, "backward", call->backward, 1);
  if (call->rng != NULL)
    tensor_store_add_value (saver->store, file, rng, call->rng);
}

/* Whether the file belongs to taps or runs, which are written anew and keep no loose tensors. */
static gboolean
is_written_anew (const char *file)
{
  return g_str_has_prefix (file, "tap") || g_str_has_prefix (file, "run-");
}

static void
collect_loose (AdjointSaver *saver)
{
  for (guint i = 0; i < saver->bundle->loose->len; i++)
    {
      const BundleTensor *loose = saver->bundle->loose->pdata[i];

      tensor_store_add (saver->store, is_written_anew (loose->file) ? "loose" : loose->file,
                        loose->key, loose->data);
    }
}

static void
collect (AdjointSaver *saver)
{
  AdjBundle *bundle = saver->bundle;

  for (guint i = 0; i < adj_bundle_get_n_graphs (bundle); i++)
    {
      const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, i);

      add_graph (saver, graph->id, graph->role, graph, graph->graph);
    }
  for (guint i = 0; i < saver->graphs->len; i++)
    {
      SavedGraph out = g_array_index (saver->graphs, SavedGraph, i);

      collect_from_graph (saver, out.id, out.graph);
    }
  for (guint i = 0; i < adj_bundle_get_n_calls (bundle); i++)
    {
      const AdjRecordedCall *call = adj_bundle_get_call (bundle, i);

      collect_from_call (saver, call, "values", call->n);
    }
  for (guint i = 0; i < saver->runs->len; i++)
    collect_from_call (saver, saver->runs->pdata[i], "runs", i);
  for (guint i = 0; i < bundle->weights->len; i++)
    {
      const AdjRecordedCall *known = bundle->weights->pdata[i];

      collect_values (saver, &(CallPlace){ "weights", known->graph->id }, "in", known->inputs,
                      known->n_inputs);
    }
  collect_loose (saver);
}

/* -- entries -- */

gboolean
saver_put_tensor (gpointer data, AdjTensorData *tensor, GString *out, GError **error)
{
  tensor_store_print_place (((AdjointSaver *) data)->store, tensor, out);
  return TRUE;
}

const AdjValue *
saver_get_state (gpointer data, AdjOpaque *object, guint *id, GError **error)
{
  return tensor_store_get_state (((AdjointSaver *) data)->store, object, id, error);
}

gboolean
saver_put_graph (gpointer data, AdjGraph *graph, GString *out, GError **error)
{
  const char *id = g_hash_table_lookup (((AdjointSaver *) data)->ids, graph);

  g_return_val_if_fail (id != NULL, FALSE);

  json_print_string (id, out);
  return TRUE;
}

static gboolean
write_graphs (AdjointSaver *saver, GError **error)
{
  GraphSink sink = { .strings = saver->strings,
                     .string_list = saver->string_list,
                     .put_tensor = saver_put_tensor,
                     .put_graph = saver_put_graph,
                     .get_state = saver_get_state,
                     .data = saver };

  for (guint i = 0; i < saver->graphs->len; i++)
    {
      SavedGraph *out = &g_array_index (saver->graphs, SavedGraph, i);
      g_autoptr (GString) text = g_string_new (NULL);
      GBytes *original = adj_bundle_get_text (saver->bundle, out->id);

      if (g_cancellable_set_error_if_cancelled (saver->meter.cancellable, error))
        return FALSE;
      sink.origins = adj_bundle_get_recording (saver->bundle) != NULL;
      sink.kept = bundle_get_kept_in_graph (saver->bundle, out->id);
      if (!graph_write_json (&sink, out->graph, text, error))
        {
          g_prefix_error (error, "graph '%s': ", out->id);
          return FALSE;
        }
      out->item = take_entry (saver, g_strdup_printf ("graphs/%s.json", out->id),
                              g_string_free_to_bytes (g_steal_pointer (&text)));
      if (original != NULL)
        take_entry (saver, g_strdup_printf ("text/%s.txt", out->id), g_bytes_ref (original));
    }
  return TRUE;
}

static void
take_tensor_file (AdjointSaver *saver, const char *id, GBytes *bytes)
{
  guint item = take_entry (saver, g_strdup_printf ("tensors/%s.safetensors", id), bytes);

  g_array_append_val (saver->tensors, item);
}

static gboolean
write_tensors (AdjointSaver *saver, GError **error)
{
  g_autoptr (GHashTable) contents = tensor_store_write (saver->store, error);
  g_autoptr (GList) files = NULL;

  if (contents == NULL)
    return FALSE;
  files = g_list_sort (g_hash_table_get_keys (contents), (GCompareFunc) strcmp);
  for (GList *file = files; file != NULL; file = file->next)
    take_tensor_file (saver, file->data, g_bytes_ref (g_hash_table_lookup (contents, file->data)));
  return TRUE;
}

/* -- taps: calls that share their source share the files -- */

typedef struct
{
  GPtrArray *names;   /* (owned) */
  GPtrArray *tensors; /* AdjTensorData */
  GHashTable *seen;
} TapList;

static TapList
tap_list (void)
{
  return (TapList){ g_ptr_array_new_with_free_func (g_free),
                    g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref),
                    g_hash_table_new (g_str_hash, g_str_equal) };
}

/* Skips values of a dtype that no file can store. */
static gboolean
add_tap (TapList *list, const char *node, AdjTensorData *tap, GError **error)
{
  const AdjDTypeInfo *info = adj_dtype_info (adj_tensor_data_get_meta (tap)->dtype);

  if (info->safetensors != NULL)
    {
      g_ptr_array_add (list->names, g_strdup (node));
      g_ptr_array_add (list->tensors, adj_tensor_data_ref (tap));
    }
  else if (pairs_dtype (adj_tensor_data_get_meta (tap)->dtype) != ADJ_DTYPE_NONE)
    {
      AdjTensorData *pairs = pairs_of (tap, error);

      if (pairs == NULL)
        return FALSE;
      g_ptr_array_add (list->names, g_strdup_printf ("%s.%s", node, info->code));
      g_ptr_array_add (list->tensors, pairs);
    }
  return TRUE;
}

static gboolean
gather_taps (AdjointSaver *saver,
             const AdjRecordedCall *call,
             gboolean float64,
             TapList *list,
             GError **error)
{
  AdjGraph *graph = call->graph->graph;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const char *name = adj_graph_get_node (graph, i)->name;
      AdjTensorData *tap = bundle_get_own_tap (saver->bundle, call, name, float64);

      if (tap != NULL && g_hash_table_add (list->seen, (gpointer) name) &&
          !add_tap (list, name, tap, error))
        return FALSE;
    }
  return TRUE;
}

static void
tap_list_clear (TapList *list)
{
  g_ptr_array_unref (list->names);
  g_ptr_array_unref (list->tensors);
  g_hash_table_unref (list->seen);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (TapList, tap_list_clear)

static gboolean
write_tap_list (AdjointSaver *saver, const char *id, const TapList *list, GError **error)
{
  GBytes *bytes = adj_safetensors_write ((const char *const *) list->names->pdata,
                                         (AdjTensorData *const *) list->tensors->pdata,
                                         list->names->len, error);

  if (bytes != NULL)
    take_tensor_file (saver, id, bytes);
  return bytes != NULL;
}

static gboolean
write_tap_file (AdjointSaver *saver, guint first, gboolean float64, GError **error)
{
  AdjBundle *bundle = saver->bundle;
  const AdjRecordedCall *leader = adj_bundle_get_call (bundle, first);
  g_autofree char *id = g_strdup_printf (float64 ? "tap64-%u" : "tap32-%u", first);
  g_auto (TapList) list = tap_list ();

  for (guint i = first; i < adj_bundle_get_n_calls (bundle); i++)
    if (bundle_shares_taps (leader, adj_bundle_get_call (bundle, i)) &&
        !gather_taps (saver, adj_bundle_get_call (bundle, i), float64, &list, error))
      return FALSE;
  return write_tap_list (saver, id, &list, error);
}

static gboolean
write_run_values (AdjointSaver *saver, guint index, GError **error)
{
  g_autofree char *id = g_strdup_printf (SAVED_RUN_VALUES, index);
  g_auto (TapList) list = tap_list ();

  return gather_taps (saver, saver->runs->pdata[index], FALSE, &list, error) &&
         write_tap_list (saver, id, &list, error);
}

guint
saver_find_tap_leader (AdjointSaver *saver, guint index)
{
  const AdjRecordedCall *call = adj_bundle_get_call (saver->bundle, index);

  for (guint i = 0; i < index; i++)
    if (bundle_shares_taps (adj_bundle_get_call (saver->bundle, i), call))
      return i;
  return index;
}

static gboolean
write_taps (AdjointSaver *saver, GError **error)
{
  for (guint i = 0; i < adj_bundle_get_n_calls (saver->bundle); i++)
    if (bundle_has_taps (adj_bundle_get_call (saver->bundle, i)) &&
        saver_find_tap_leader (saver, i) == i &&
        (!write_tap_file (saver, i, FALSE, error) || !write_tap_file (saver, i, TRUE, error)))
      return FALSE;
  for (guint i = 0; i < saver->runs->len; i++)
    if (bundle_has_taps (saver->runs->pdata[i]) && !write_run_values (saver, i, error))
      return FALSE;
  return TRUE;
}

static void
take_kept_entries (AdjointSaver *saver)
{
  for (guint i = 0; adjoint_kept_entries[i] != NULL; i++)
    {
      GBytes *bytes = bundle_dup_kept_entry (saver->bundle, adjoint_kept_entries[i]);

      if (bytes != NULL)
        take_entry (saver, g_strdup (adjoint_kept_entries[i]), bytes);
    }
}

static void
take_recording (AdjointSaver *saver)
{
  GBytes *bytes = recording_write (saver->bundle);

  if (bytes != NULL)
    take_entry (saver, g_strdup ("recording.json"), bytes);
}

static gboolean
add_to_sum (const guint8 *bytes, gsize length, gpointer sum, GError **error)
{
  g_checksum_update (sum, bytes, (gssize) length);
  return TRUE;
}

static gboolean
hash_items (AdjointSaver *saver, GError **error)
{
  for (guint i = 0; i < saver->items->len; i++)
    {
      GBytes *bytes = g_array_index (saver->items, ZipItem, i).bytes;
      g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);

      if (!save_meter_pass (&saver->meter, bytes, add_to_sum, sum, error))
        return FALSE;
      g_ptr_array_add (saver->sums, g_strdup (g_checksum_get_string (sum)));
    }
  return TRUE;
}

static gint
compare_items (gconstpointer a, gconstpointer b)
{
  return strcmp (((const ZipItem *) a)->name, ((const ZipItem *) b)->name);
}

static gboolean
save (AdjointSaver *saver, const char *path, GError **error)
{
  g_autoptr (GString) manifest = g_string_new (NULL);
  ZipItem first;

  collect (saver);
  if (!write_graphs (saver, error) || !write_tensors (saver, error) || !write_taps (saver, error) ||
      !hash_items (saver, error) || !saver_put_manifest (saver, manifest, error))
    {
      g_prefix_error (error, "%s: ", path);
      return FALSE;
    }
  take_kept_entries (saver);
  take_recording (saver);
  g_array_sort (saver->items, compare_items);
  first.name = g_strdup ("adjoint.json");
  first.bytes = g_string_free_to_bytes (g_steal_pointer (&manifest));
  g_array_prepend_val (saver->items, first);
  return entries_write (path, &g_array_index (saver->items, ZipItem, 0), saver->items->len,
                        &saver->meter, error);
}

gboolean
adjoint_save (AdjBundle *bundle,
              const char *path,
              const AdjSaveOptions *options,
              GCancellable *cancellable,
              GError **error)
{
  AdjointSaver saver = { .bundle = bundle,
                         .runs = adj_bundle_dup_runs (bundle),
                         .arena = adj_arena_new (),
                         .graphs = g_array_new (FALSE, FALSE, sizeof (SavedGraph)),
                         .ids = g_hash_table_new (NULL, NULL),
                         .taken = g_hash_table_new (g_str_hash, g_str_equal),
                         .store = tensor_store_new (),
                         .strings = g_hash_table_new (g_str_hash, g_str_equal),
                         .string_list = g_ptr_array_new_with_free_func (g_free),
                         .items = g_array_new (FALSE, FALSE, sizeof (ZipItem)),
                         .sums = g_ptr_array_new_with_free_func (g_free),
                         .tensors = g_array_new (FALSE, FALSE, sizeof (guint)),
                         .meter = { .cancellable = cancellable,
                                    .options = options,
                                    .n_passes = 1 + entries_count_passes (path) } };
  gboolean good;

  g_array_set_clear_func (saver.items, (GDestroyNotify) zip_item_clear);
  good = save (&saver, path, error);
  g_array_unref (saver.tensors);
  g_ptr_array_unref (saver.sums);
  g_array_unref (saver.items);
  g_hash_table_unref (saver.strings);
  g_ptr_array_unref (saver.string_list);
  tensor_store_free (saver.store);
  g_hash_table_unref (saver.taken);
  g_hash_table_unref (saver.ids);
  g_array_unref (saver.graphs);
  adj_arena_free (saver.arena);
  g_ptr_array_unref (saver.runs);
  return good;
}
