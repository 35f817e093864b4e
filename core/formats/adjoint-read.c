/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "formats/adj-bundle-private.h"
#include "formats/adj-safetensors.h"
#include "formats/adjoint-private.h"
#include "formats/entries-private.h"
#include "formats/graph-json-private.h"

#define MAX_GRAPHS 65536
#define MAX_CALLS 10000
#define MAX_STRINGS (1 << 20)
/* Larger tensor files are not hashed: that would read what nobody may ask for. */
#define MAX_HASHED (64 << 20)

/* The tensor files that were opened, shared by the loader and by the taps that stay behind. */
typedef struct
{
  GHashTable *by_id; /* id → AdjSafetensors */
} TensorFiles;

typedef struct
{
  TensorFiles *files;            /* (owned) */
  AdjSafetensors *narrow, *wide; /* (nullable) */
} Taps;

typedef enum
{
  GRAPH_UNREAD,
  GRAPH_BEING_READ,
  GRAPH_READ,
} GraphState;

typedef struct
{
  const JsonItem *item; /* in the manifest */
  guint place;
  GraphState state;
  AdjGraph *graph; /* (owned) */
} GraphEntry;

typedef struct
{
  const char *path;
  Entries *entries;
  AdjArena *arena;
  JsonReader json; /* of the manifest: its name, for messages */
  const JsonItem *manifest;
  AdjSymbols *symbols;
  AdjDiags *diags;
  AdjBundleBuilder *builder;
  GHashTable *graphs; /* id → GraphEntry */
  GHashTable *hashes; /* id of a tensor file → sha256 */
  TensorFiles *files;
  GPtrArray *tensors; /* views that were made */
  GHashTable *taps;   /* "narrow wide" → Taps */
  GCancellable *cancellable;
  guint depth;
} Loader;

static void
clear_files (gpointer data)
{
  g_hash_table_unref (((TensorFiles *) data)->by_id);
}

static void
clear_taps (gpointer data)
{
  g_atomic_rc_box_release_full (((Taps *) data)->files, clear_files);
}

static void
release_taps (gpointer data)
{
  g_atomic_rc_box_release_full (data, clear_taps);
}

static void
free_graph_entry (gpointer data)
{
  GraphEntry *entry = data;

  g_clear_pointer (&entry->graph, adj_graph_unref);
  g_free (entry);
}

/* -- entries -- */

static void
check_hash (
    Loader *loader, const char *entry, GBytes *bytes, const char *wanted, AdjSeverity severity)
{
  g_autofree char *found = NULL;

  if (wanted == NULL)
    return;
  if (severity == ADJ_SEVERITY_ERROR && g_bytes_get_size (bytes) > MAX_HASHED)
    {
      adj_diags_add (loader->diags, ADJ_SEVERITY_NOTE, (AdjSpan){ 0 },
                     "%s: not compared with its sha256, it is large", entry);
      return;
    }
  found = g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
  if (g_ascii_strcasecmp (found, wanted) != 0)
    adj_diags_add (loader->diags, severity, (AdjSpan){ 0 },
                   "%s: edited by hand (its sha256 is not the one in adjoint.json)", entry);
}

static AdjSafetensors *
open_tensors (Loader *loader, const char *id, GError **error)
{
  g_autofree char *entry = g_strdup_printf ("tensors/%s.safetensors", id);
  g_autofree char *name = g_strdup_printf ("%s: %s", loader->path, entry);
  g_autoptr (GBytes) bytes =
      entries_read (loader->entries, entry, G_MAXINT64, loader->diags, error);
  AdjSafetensors *file;

  if (bytes == NULL)
    return NULL;
  check_hash (loader, entry, bytes, g_hash_table_lookup (loader->hashes, id), ADJ_SEVERITY_ERROR);
  file = adj_safetensors_read (bytes, name, error);
  if (file != NULL)
    g_hash_table_insert (loader->files->by_id, g_strdup (id), file);
  return file;
}

/* The tensor file that @id names. */
static AdjSafetensors *
get_tensors (Loader *loader, const JsonReader *json, const JsonItem *id, GError **error)
{
  AdjSafetensors *file;

  if (id->kind != JSON_STRING || !bundle_is_id (id->text))
    {
      json_fail (json, id, error, "expected the id of a tensor file");
      return NULL;
    }
  file = g_hash_table_lookup (loader->files->by_id, id->text);
  return file != NULL ? file : open_tensors (loader, id->text, error);
}

static gboolean
read_sizes (const JsonItem *view, const char *key, AdjSize *out, guint *n)
{
  const JsonItem *list = json_get (view, key);

  if (list == NULL || list->kind != JSON_ARRAY || list->n > ADJ_MAX_RANK)
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    {
      if (list->items[i].kind != JSON_INT || list->items[i].integer < 0)
        return FALSE;
      out[i] = ADJ_SIZE (list->items[i].integer);
    }
  *n = list->n;
  return TRUE;
}

/* Another shape over the bytes of @stored: values of the same key alias. */
static AdjTensorData *
make_view (Loader *loader,
           const JsonReader *json,
           AdjTensorData *stored,
           const JsonItem *view,
           GError **error)
{
  AdjTensorMeta meta = *adj_tensor_data_get_meta (stored);
  gint64 offset = json_get_int (view, "offset", 0);
  guint n_strides = 0;
  g_autoptr (GError) reason = NULL;
  AdjTensorData *data;

  if (!read_sizes (view, "size", meta.shape.size, &meta.shape.rank) ||
      !read_sizes (view, "stride", meta.shape.stride, &n_strides) || n_strides != meta.shape.rank ||
      offset < 0)
    {
      json_fail (json, view, error,
                 "a view needs whole numbers as \"size\", \"stride\", \"offset\"");
      return NULL;
    }
  meta.shape.offset = ADJ_SIZE (offset);
  data = adj_tensor_data_new (&meta, adj_tensor_data_get_bytes (stored), &reason);
  if (data == NULL)
    json_fail (json, view, error, "%s", reason->message);
  else
    g_ptr_array_add (loader->tensors, data);
  return data;
}

static AdjTensorData *
get_tensor (gpointer data, const JsonReader *json, const JsonItem *place, GError **error)
{
  Loader *loader = data;
  AdjSafetensors *file;
  AdjTensorData *stored;
  const JsonItem *key;

  if (place->kind != JSON_ARRAY || (place->n != 2 && place->n != 3) ||
      place->items[1].kind != JSON_STRING)
    {
      json_fail (json, place, error, "expected [file, key] or [file, key, view]");
      return NULL;
    }
  file = get_tensors (loader, json, &place->items[0], error);
  if (file == NULL)
    return NULL;
  key = &place->items[1];
  stored = adj_safetensors_find (file, key->text);
  if (stored == NULL)
    {
      json_fail (json, key, error, "no tensor '%s' in '%s' that we can read", key->text,
                 place->items[0].text);
      return NULL;
    }
  return place->n == 2 ? stored : make_view (loader, json, stored, &place->items[2], error);
}

/* -- graphs -- */

static AdjGraph *read_graph (Loader *loader, const char *id, GraphEntry *entry, GError **error);

static AdjGraph *
get_graph (gpointer data, const JsonReader *json, const JsonItem *id, GError **error)
{
  Loader *loader = data;
  GraphEntry *entry = g_hash_table_lookup (loader->graphs, id->text);

  if (entry == NULL)
    json_fail (json, id, error, "there is no graph '%s'", id->text);
  else if (entry->state == GRAPH_BEING_READ)
    json_fail (json, id, error, "the graph '%s' contains itself", id->text);
  else if (entry->state == GRAPH_READ)
    return entry->graph;
  else if (loader->depth >= ADJ_MAX_DEPTH)
    json_fail (json, id, error, "subgraphs nested deeper than %d", ADJ_MAX_DEPTH);
  else
    return read_graph (loader, id->text, entry, error);
  return NULL;
}

static AdjGraph *
read_graph (Loader *loader, const char *id, GraphEntry *entry, GError **error)
{
  g_autofree char *place = g_strdup_printf ("graphs/%s.json", id);
  g_autofree char *name = g_strdup_printf ("%s: %s", loader->path, place);
  g_autoptr (GString) kept = g_string_new (NULL);
  GraphSource source = { .name = name,
                         .symbols = loader->symbols,
                         .strings = json_get (loader->manifest, "strings"),
                         .get_tensor = get_tensor,
                         .get_graph = get_graph,
                         .data = loader };
  g_autoptr (GBytes) bytes = NULL;

  if (g_cancellable_set_error_if_cancelled (loader->cancellable, error))
    return NULL;
  bytes = entries_read (loader->entries, place, ENTRIES_MAX_BYTES, loader->diags, error);
  if (bytes == NULL)
    return NULL;
  check_hash (loader, place, bytes, json_get_text (entry->item, "sha256"), ADJ_SEVERITY_WARNING);
  entry->state = GRAPH_BEING_READ;
  loader->depth++;
  entry->graph = graph_read_json (&source, bytes, kept, error);
  loader->depth--;
  entry->state = GRAPH_READ;
  if (kept->len > 0)
    bundle_builder_keep_in_graph (loader->builder, id, kept->str);
  return entry->graph;
}

/* The entries of an array of objects; absent is empty. */
static gboolean
get_objects (Loader *loader, const char *key, guint max, const JsonItem **out, GError **error)
{
  static const JsonItem empty = { .kind = JSON_ARRAY };
  const JsonItem *list = json_get (loader->manifest, key);

  *out = &empty;
  if (list == NULL)
    return TRUE;
  if (list->kind != JSON_ARRAY || list->n > max)
    {
      json_fail (&loader->json, list, error, "\"%s\" must be an array of at most %u", key, max);
      return FALSE;
    }
  for (guint i = 0; i < list->n; i++)
    if (list->items[i].kind != JSON_OBJECT)
      {
        json_fail (&loader->json, &list->items[i], error, "\"%s\": expected an object", key);
        return FALSE;
      }
  *out = list;
  return TRUE;
}

static gint
get_rank (const JsonItem *item)
{
  gint64 rank = json_get_int (item, "rank", -1);

  return rank >= 0 && rank <= G_MAXINT ? (gint) rank : -1;
}

static gboolean
add_graph (Loader *loader, const JsonItem *item, GError **error)
{
  const char *id = json_get_text (item, "id");
  GraphEntry *entry = g_hash_table_lookup (loader->graphs, id);
  AdjBundleGraph graph = { .id = id,
                           .title = json_get_text (item, "title"),
                           .role = json_get_text (item, "role"),
                           .compile_id = json_get_text (item, "compile_id"),
                           .rank = get_rank (item) };
  g_autofree char *place = g_strdup_printf ("text/%s.txt", id);
  g_autoptr (GBytes) text = NULL;

  graph.graph = entry->state == GRAPH_READ ? entry->graph : read_graph (loader, id, entry, error);
  if (graph.graph == NULL || !adj_bundle_builder_add_graph (loader->builder, &graph, error))
    return FALSE;
  if (!entries_has (loader->entries, place))
    return TRUE;
  text = entries_read (loader->entries, place, ENTRIES_MAX_BYTES, loader->diags, error);
  if (text == NULL)
    return FALSE;
  adj_bundle_builder_set_text (loader->builder, id, text);
  return TRUE;
}

static gboolean
read_graphs (Loader *loader, GError **error)
{
  const JsonItem *list;

  if (!get_objects (loader, "graphs", MAX_GRAPHS, &list, error))
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    {
      const char *id = json_get_text (&list->items[i], "id");
      GraphEntry *entry;

      if (id == NULL || !bundle_is_id (id) || g_hash_table_contains (loader->graphs, id))
        {
          json_fail (&loader->json, &list->items[i], error,
                     "a graph needs an id of its own, of a-z, 0-9, '_' and '-'");
          return FALSE;
        }
      entry = g_new0 (GraphEntry, 1);
      entry->item = &list->items[i];
      entry->place = i;
      g_hash_table_insert (loader->graphs, (gpointer) id, entry);
    }
  for (guint i = 0; i < list->n; i++)
    if (!add_graph (loader, &list->items[i], error))
      return FALSE;
  return TRUE;
}

/* -- symbols, regions, calls -- */

static gint64
get_bound (const JsonItem *range, guint index, gint64 unbounded)
{
  if (range == NULL || range->kind != JSON_ARRAY || range->n != 2 ||
      range->items[index].kind != JSON_INT)
    return unbounded;
  return range->items[index].integer;
}

static gboolean
read_symbols (Loader *loader, GError **error)
{
  const JsonItem *symbols = json_get (loader->manifest, "symbols");

  if (symbols == NULL || symbols->kind == JSON_NULL)
    return TRUE;
  if (symbols->kind != JSON_OBJECT)
    {
      json_fail (&loader->json, symbols, error, "\"symbols\" must be an object");
      return FALSE;
    }
  for (guint i = 0; i < symbols->n; i++)
    {
      const JsonItem *item = &symbols->items[i];
      const JsonItem *range = json_get (item, "range");
      AdjSymbol symbol = { .name = item->key,
                           .hint = json_get_int (item, "hint", ADJ_SYMBOL_UNBACKED),
                           .min = get_bound (range, 0, G_MININT64),
                           .max = get_bound (range, 1, G_MAXINT64),
                           .source = json_get_text (item, "source") };

      adj_symbols_define (loader->symbols, &symbol);
    }
  return TRUE;
}

static ValueReader
value_reader (Loader *loader, gboolean plain)
{
  return (ValueReader){ .json = &loader->json,
                        .arena = loader->arena,
                        .symbols = loader->symbols,
                        .strings = json_get (loader->manifest, "strings"),
                        .plain = plain,
                        .get_tensor = get_tensor,
                        .get_graph = get_graph,
                        .data = loader };
}

static gint
compare_graph_places (gconstpointer a, gconstpointer b, gpointer data)
{
  const GraphEntry *first = g_hash_table_lookup (data, *(const char *const *) a);
  const GraphEntry *second = g_hash_table_lookup (data, *(const char *const *) b);

  return (first->place > second->place) - (first->place < second->place);
}

/* The graphs of a region, in the order of the manifest. */
static GPtrArray *
list_region_graphs (Loader *loader, const JsonItem *item, GError **error)
{
  g_autoptr (GPtrArray) ids = g_ptr_array_new ();
  const JsonItem *graphs = json_get (item, "graphs");

  for (guint i = 0; graphs != NULL && graphs->kind == JSON_OBJECT && i < graphs->n; i++)
    {
      const JsonItem *id = &graphs->items[i];

      if (id->kind == JSON_STRING && g_hash_table_contains (loader->graphs, id->text))
        {
          g_ptr_array_add (ids, (gpointer) id->text);
          continue;
        }
      json_fail (&loader->json, id, error, "a region names a graph that is not there");
      return NULL;
    }
  g_ptr_array_sort_with_data (ids, compare_graph_places, loader->graphs);
  return g_steal_pointer (&ids);
}

static gint
get_count (const JsonItem *item, const char *key, gint fallback)
{
  gint64 count = json_get_int (item, key, fallback);

  return count >= 0 && count <= G_MAXINT ? (gint) count : fallback;
}

static gboolean
add_region (Loader *loader, const JsonItem *item, GError **error)
{
  const JsonItem *metadata = json_get (item, "fw_metadata");
  ValueReader reader = value_reader (loader, TRUE);
  g_autoptr (GPtrArray) ids = list_region_graphs (loader, item, error);
  AdjRegion region = { .id = json_get_text (item, "id"),
                       .compile_id = json_get_text (item, "compile_id"),
                       .rank = get_rank (item),
                       .attempt = get_count (item, "attempt", 0),
                       .num_fwd_outputs = get_count (item, "num_fwd_outputs", -1) };
  AdjValue value;

  if (ids == NULL)
    return FALSE;
  if (region.id == NULL)
    {
      json_fail (&loader->json, item, error, "a region without an id");
      return FALSE;
    }
  if (metadata != NULL && metadata->kind == JSON_OBJECT)
    {
      if (!value_read (&reader, metadata, &value, error))
        return FALSE;
      region.metadata = &value;
    }
  region.n_graphs = ids->len;
  if (adj_bundle_builder_add_region (loader->builder, &region, (const char *const *) ids->pdata,
                                     error))
    return TRUE;
  g_prefix_error (error, "%s:%u: ", loader->json.name, item->line);
  return FALSE;
}

static AdjTensorData *
get_tap (const char *node, gboolean float64, gpointer data)
{
  const Taps *taps = data;
  const AdjSafetensors *file = float64 ? taps->wide : taps->narrow;
  AdjTensorData *found = file != NULL ? adj_safetensors_find (file, node) : NULL;

  return found != NULL ? adj_tensor_data_ref (found) : NULL;
}

static gboolean
read_tap_file (
    Loader *loader, const JsonItem *taps, const char *key, AdjSafetensors **out, GError **error)
{
  const JsonItem *id = json_get (taps, key);

  if (id == NULL || id->kind == JSON_NULL)
    return TRUE;
  *out = get_tensors (loader, &loader->json, id, error);
  return *out != NULL;
}

/* Calls that name the same files share one source: see bundle_shares_taps (). */
static gboolean
set_taps (Loader *loader, const JsonItem *item, GError **error)
{
  AdjSafetensors *narrow = NULL, *wide = NULL;
  g_autofree char *key = NULL;
  Taps *taps;

  if (item == NULL || item->kind == JSON_NULL)
    return TRUE;
  if (!read_tap_file (loader, item, "f32", &narrow, error) ||
      !read_tap_file (loader, item, "f64", &wide, error))
    return FALSE;
  key = g_strdup_printf ("%p %p", (void *) narrow, (void *) wide);
  taps = g_hash_table_lookup (loader->taps, key);
  if (taps == NULL)
    {
      taps = g_atomic_rc_box_new0 (Taps);
      taps->files = g_atomic_rc_box_acquire (loader->files);
      taps->narrow = narrow;
      taps->wide = wide;
      g_hash_table_insert (loader->taps, g_steal_pointer (&key), taps);
    }
  adj_bundle_builder_set_taps (loader->builder, get_tap, g_atomic_rc_box_acquire (taps),
                               release_taps);
  return TRUE;
}

static gboolean
read_values (Loader *loader,
             const JsonItem *call,
             const char *key,
             const AdjValue **out,
             guint *n,
             GError **error)
{
  const JsonItem *list = json_get (call, key);
  ValueReader reader = value_reader (loader, FALSE);
  AdjValue value = { .kind = ADJ_VALUE_LIST };

  if (list != NULL && list->kind != JSON_ARRAY)
    {
      json_fail (&loader->json, list, error, "\"%s\" must be an array", key);
      return FALSE;
    }
  if (list != NULL && !value_read (&reader, list, &value, error))
    return FALSE;
  *out = value.items;
  *n = value.n;
  return TRUE;
}

static gboolean
add_call (Loader *loader, const JsonItem *item, GError **error)
{
  const JsonItem *derived = json_get (item, "derived");
  const JsonItem *rng = json_get (item, "rng");
  const char *id = json_get_text (item, "graph");
  gint64 n = json_get_int (item, "n", 0);
  AdjRecordedCall call = { .derived = derived != NULL && derived->kind == JSON_TRUE };
  ValueReader reader = value_reader (loader, TRUE);
  AdjValue state;

  if (id == NULL || n < 0 || n > G_MAXUINT)
    {
      json_fail (&loader->json, item, error, "a call needs a graph and a number");
      return FALSE;
    }
  call.n = n;
  if (!read_values (loader, item, "inputs", &call.inputs, &call.n_inputs, error) ||
      !read_values (loader, item, "outputs", &call.outputs, &call.n_outputs, error))
    return FALSE;
  if (rng != NULL && rng->kind == JSON_OBJECT)
    {
      if (!value_read (&reader, rng, &state, error))
        return FALSE;
      call.rng = &state;
    }
  if (!adj_bundle_builder_add_call (loader->builder, &call, id, error))
    {
      g_prefix_error (error, "%s:%u: ", loader->json.name, item->line);
      return FALSE;
    }
  return set_taps (loader, json_get (item, "taps"), error);
}

static gboolean
add_each (Loader *loader,
          const char *key,
          guint max,
          gboolean (*add) (Loader *, const JsonItem *, GError **),
          GError **error)
{
  const JsonItem *list;

  if (!get_objects (loader, key, max, &list, error))
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    if (g_cancellable_set_error_if_cancelled (loader->cancellable, error) ||
        !add (loader, &list->items[i], error))
      return FALSE;
  return TRUE;
}

static gboolean
add_hash (Loader *loader, const JsonItem *item, GError **error)
{
  const char *id = json_get_text (item, "id"), *hash = json_get_text (item, "sha256");

  if (id != NULL && hash != NULL)
    g_hash_table_insert (loader->hashes, (gpointer) id, (gpointer) hash);
  return TRUE;
}

/* -- the manifest -- */

gboolean
adjoint_is_known_member (const char *key)
{
  static const char *const known[] = {
    "format",  "version", "requires", "producer", "source", "graphs",
    "tensors", "strings", "symbols",  "regions",  "calls",
  };

  for (guint i = 0; i < G_N_ELEMENTS (known); i++)
    if (strcmp (known[i], key) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
check_version (Loader *loader, GError **error)
{
  const char *format = json_get_text (loader->manifest, "format");
  const JsonItem *version = json_get (loader->manifest, "version");
  const JsonItem *words = json_get (loader->manifest, "requires");

  if (format == NULL || strcmp (format, "adjoint") != 0 || version == NULL ||
      version->kind != JSON_ARRAY || version->n != 2 || version->items[0].kind != JSON_INT ||
      version->items[1].kind != JSON_INT)
    {
      json_fail (&loader->json, loader->manifest, error,
                 "not the manifest of an .adjoint file (\"format\" and \"version\")");
      return FALSE;
    }
  if (version->items[0].integer != ADJOINT_MAJOR)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                   "%s: version %" G_GINT64_FORMAT " of the format; this program reads version %d",
                   loader->path, version->items[0].integer, ADJOINT_MAJOR);
      return FALSE;
    }
  if (words == NULL || words->kind != JSON_ARRAY || words->n == 0)
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "%s: the file requires '%s', which this program does not know", loader->path,
               words->items[0].kind == JSON_STRING ? words->items[0].text : "?");
  return FALSE;
}

static char *
describe (const JsonItem *source)
{
  const char *said = json_get_text (source, "description");
  const char *kind = json_get_text (source, "kind");
  const char *version = json_get_text (source, "torch_version");
  const char *decompositions = json_get_text (source, "decompositions");
  const char *suffix = "";

  if (said != NULL)
    return g_strdup (said);
  if (decompositions != NULL)
    suffix = strcmp (decompositions, "none") == 0 ? ", no decompositions" : ", with decompositions";
  if (kind == NULL)
    kind = "saved graphs";
  if (version == NULL)
    return g_strconcat (kind, suffix, NULL);
  return g_strconcat (kind, " of torch ", version, suffix, NULL);
}

static void
keep_members (Loader *loader)
{
  for (guint i = 0; i < loader->manifest->n; i++)
    {
      const JsonItem *item = &loader->manifest->items[i];
      g_autoptr (GString) json = g_string_new (NULL);

      if (adjoint_is_known_member (item->key) && strcmp (item->key, "source") != 0)
        continue;
      json_print (item, json);
      bundle_builder_keep (loader->builder, item->key, json->str);
    }
}

static gboolean
keep_entries (Loader *loader, GError **error)
{
  for (guint i = 0; adjoint_kept_entries[i] != NULL; i++)
    {
      const char *name = adjoint_kept_entries[i];
      g_autoptr (GBytes) bytes = NULL;

      if (!entries_has (loader->entries, name))
        continue;
      bytes = entries_read (loader->entries, name, ENTRIES_MAX_BYTES, loader->diags, error);
      if (bytes == NULL)
        return FALSE;
      bundle_builder_keep_entry (loader->builder, name, bytes);
    }
  return TRUE;
}

static gboolean
check_strings (Loader *loader, GError **error)
{
  const JsonItem *strings = json_get (loader->manifest, "strings");

  if (strings == NULL || (strings->kind == JSON_ARRAY && strings->n <= MAX_STRINGS))
    return TRUE;
  json_fail (&loader->json, strings, error, "\"strings\" must be an array of texts");
  return FALSE;
}

static gboolean
read_manifest (Loader *loader, GError **error)
{
  g_autoptr (GBytes) bytes =
      entries_read (loader->entries, "adjoint.json", ENTRIES_MAX_BYTES, loader->diags, error);
  g_autofree char *description = NULL;
  gsize length;
  const char *text;

  if (bytes == NULL)
    return FALSE;
  text = g_bytes_get_data (bytes, &length);
  loader->manifest = json_parse (loader->arena, loader->json.name, text, length, error);
  if (loader->manifest == NULL || !check_version (loader, error) || !check_strings (loader, error))
    return FALSE;
  description = describe (json_get (loader->manifest, "source"));
  adj_bundle_builder_set_description (loader->builder, description);
  keep_members (loader);
  return keep_entries (loader, error) && read_symbols (loader, error) &&
         add_each (loader, "tensors", MAX_GRAPHS, add_hash, error) && read_graphs (loader, error) &&
         add_each (loader, "regions", MAX_GRAPHS, add_region, error) &&
         add_each (loader, "calls", MAX_CALLS, add_call, error);
}

static void
clear_loader (Loader *loader)
{
  g_clear_pointer (&loader->entries, entries_free);
  g_hash_table_unref (loader->taps);
  g_ptr_array_unref (loader->tensors);
  g_hash_table_unref (loader->graphs);
  g_hash_table_unref (loader->hashes);
  g_atomic_rc_box_release_full (loader->files, clear_files);
  adj_symbols_unref (loader->symbols);
  g_clear_pointer (&loader->builder, adj_bundle_builder_free);
  g_clear_pointer (&loader->diags, adj_diags_free);
  adj_arena_free (loader->arena);
}

AdjBundle *
adjoint_load (const char *path, GCancellable *cancellable, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s: adjoint.json", path);
  AdjBundle *bundle = NULL;
  Loader loader = { .path = path,
                    .arena = adj_arena_new (),
                    .json = { .name = name },
                    .symbols = adj_symbols_new (),
                    .diags = adj_diags_new (),
                    .builder = adj_bundle_builder_new (),
                    .cancellable = cancellable };

  loader.files = g_atomic_rc_box_new0 (TensorFiles);
  loader.files->by_id = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                               (GDestroyNotify) adj_safetensors_free);
  loader.graphs = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_graph_entry);
  loader.hashes = g_hash_table_new (g_str_hash, g_str_equal);
  loader.tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_data_unref);
  loader.taps = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, release_taps);
  loader.entries = entries_open (path, error);
  if (loader.entries != NULL && read_manifest (&loader, error))
    bundle =
        adj_bundle_builder_end (g_steal_pointer (&loader.builder), g_steal_pointer (&loader.diags));
  clear_loader (&loader);
  return bundle;
}
