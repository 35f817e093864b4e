/* SPDX-License-Identifier: MIT */
/* Reads .adjoint: the manifest with its graphs, regions, calls and runs. */

#include <gio/gio.h>
#include <string.h>

#include "formats/adj-bundle-private.h"
#include "formats/adjoint-loader-private.h"
#include "formats/adjoint-private.h"
#include "formats/backward-private.h"
#include "formats/calls-private.h"
#include "formats/entries-private.h"
#include "formats/graph-json-private.h"
#include "formats/objects-private.h"
#include "formats/partition-private.h"
#include "formats/recording-private.h"
#include "formats/remarks-private.h"
#include "formats/tensor-files-private.h"

#define MAX_CALLS 10000
#define MAX_STRINGS (1 << 20)

/* For how long a folder that is being written is read again, and the pause between two tries, in
 * µs. */
#define WAIT (10 * G_TIME_SPAN_SECOND)
#define PAUSE (10 * G_TIME_SPAN_MILLISECOND)

/* -- symbols, regions -- */

static gint64
get_bound (const JsonItem *range, guint index, gint64 unbounded)
{
  if (range == NULL || range->kind != JSON_ARRAY || range->n != 2 ||
      range->items[index].kind != JSON_INT)
    return unbounded;
  return range->items[index].integer;
}

static AdjSymbol
read_symbol (const JsonItem *item)
{
  const JsonItem *range = json_get (item, "range");

  return (AdjSymbol){ .name = item->key,
                      .hint = json_get_int (item, "hint", ADJ_SYMBOL_UNBACKED),
                      .min = get_bound (range, 0, G_MININT64),
                      .max = get_bound (range, 1, G_MAXINT64),
                      .source = json_get_text (item, "source") };
}

/* @symbols: (nullable): of the file, or of a region. */
static gboolean
define_symbols (Loader *loader, const JsonItem *symbols, AdjSymbols *table, GError **error)
{
  if (symbols == NULL || symbols->kind == JSON_NULL)
    return TRUE;
  if (symbols->kind != JSON_OBJECT)
    {
      json_fail (&loader->json, symbols, error, "\"symbols\" must be an object");
      return FALSE;
    }
  for (guint i = 0; i < symbols->n; i++)
    {
      const AdjSymbol symbol = read_symbol (&symbols->items[i]);

      adj_symbols_define (table, &symbol);
    }
  return TRUE;
}

/* Whether @symbols (nullable), of a region, are others than those of the file. */
static gboolean
has_other_symbols (const Loader *loader, const JsonItem *symbols)
{
  if (symbols == NULL || symbols->kind != JSON_OBJECT)
    return symbols != NULL && symbols->kind != JSON_NULL;
  if (symbols->n != adj_symbols_get_n (loader->symbols))
    return TRUE;
  for (guint i = 0; i < symbols->n; i++)
    {
      const AdjSymbol symbol = read_symbol (&symbols->items[i]);
      const AdjSymbol *known = adj_symbols_find (loader->symbols, symbol.name);

      if (known == NULL || known->hint != symbol.hint || known->min != symbol.min ||
          known->max != symbol.max)
        return TRUE;
    }
  return FALSE;
}

/* Regions are traced separately: their s0 may be another symbol than the s0 of the file. */
static gboolean
add_region_symbols (Loader *loader, const JsonItem *region, GError **error)
{
  const JsonItem *graphs = json_get (region, "graphs"), *symbols = json_get (region, "symbols");
  g_autoptr (AdjSymbols) own = NULL;

  if (!has_other_symbols (loader, symbols))
    return TRUE;
  own = adj_symbols_new ();
  if (!define_symbols (loader, symbols, own, error))
    return FALSE;
  for (guint i = 0; graphs != NULL && graphs->kind == JSON_OBJECT && i < graphs->n; i++)
    {
      const JsonItem *id = &graphs->items[i];
      GraphEntry *entry =
          id->kind == JSON_STRING ? g_hash_table_lookup (loader->graphs, id->text) : NULL;

      if (entry != NULL && entry->symbols == NULL)
        entry->symbols = adj_symbols_ref (own);
    }
  return TRUE;
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

/* The symbols of the graph @id, which must exist. */
static AdjSymbols *
get_symbols (const Loader *loader, const char *id)
{
  const GraphEntry *entry = g_hash_table_lookup (loader->graphs, id);

  return entry->symbols != NULL ? entry->symbols : loader->symbols;
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
  ValueReader reader = loader_read_values (loader, TRUE);
  g_autoptr (GPtrArray) ids = list_region_graphs (loader, item, error);
  AdjRegion region = { .id = json_get_text (item, "id"),
                       .compile_id = json_get_text (item, "compile_id"),
                       .rank = loader_get_rank (item),
                       .process = get_count (item, "process", 0),
                       .attempt = get_count (item, "attempt", 0),
                       .num_fwd_outputs = get_count (item, "num_fwd_outputs", -1) };
  const JsonItem *partition = json_get (item, "partition");
  const JsonItem *capture = json_get (item, "capture");
  AdjValue value, partitioning, captured;

  if (ids != NULL && ids->len > 0)
    reader.symbols = get_symbols (loader, ids->pdata[0]);
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
  if (partition != NULL && partition->kind != JSON_NULL)
    {
      if (!adjoint_read_partition (&reader, partition, &partitioning, error))
        return FALSE;
      region.partition = &partitioning;
    }
  if (capture != NULL && capture->kind != JSON_NULL)
    {
      if (!adjoint_read_capture (&reader, capture, &captured, error))
        return FALSE;
      region.capture = &captured;
    }
  region.n_graphs = ids->len;
  if (adj_bundle_builder_add_region (loader->builder, &region, (const char *const *) ids->pdata,
                                     error))
    return TRUE;
  g_prefix_error (error, "%s:%u: ", loader->json.name, item->line);
  return FALSE;
}

static CallReader
call_reader (Loader *loader)
{
  return (CallReader){ .json = &loader->json,
                       .values = loader_read_values (loader, FALSE),
                       .files = loader->files,
                       .builder = loader->builder,
                       .diags = loader->diags };
}

static gboolean
add_call (Loader *loader, const JsonItem *item, GError **error)
{
  CallReader reader = call_reader (loader);

  return call_read (&reader, item, error);
}

static gboolean
add_run (Loader *loader, const JsonItem *item, GError **error)
{
  CallReader reader = call_reader (loader);

  run_read (&reader, item);
  return TRUE;
}

static gboolean
add_weights (Loader *loader, const JsonItem *item, GError **error)
{
  CallReader reader = call_reader (loader);

  return weights_read (&reader, item, error);
}

static gboolean
add_each (Loader *loader,
          const char *key,
          guint max,
          gboolean (*add) (Loader *, const JsonItem *, GError **),
          GError **error)
{
  const JsonItem *list;

  if (!loader_get_objects (loader, key, max, &list, error))
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

  if (id != NULL)
    tensor_files_set_hash (loader->files, id, hash);
  return TRUE;
}

/* -- the manifest -- */

gboolean
adjoint_is_known_member (const char *key)
{
  static const char *const known[] = {
    "format",  "version", "requires", "producer", "source", "graphs",  "tensors",
    "strings", "symbols", "regions",  "calls",    "runs",   "weights",
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

/* Sets where random numbers were drawn from.  An unknown word, of a later version, is ignored: the
 * release of PyTorch decides. */
static void
take_random_source (Loader *loader, const char *word)
{
  static const char *const words[] = {
    [ADJ_RANDOM_MKL] = "mkl", [ADJ_RANDOM_GENERATOR] = "generator"
  };

  for (guint i = 0; word != NULL && i < G_N_ELEMENTS (words); i++)
    if (g_str_equal (word, words[i]))
      bundle_builder_set_random_source (loader->builder, (AdjRandomSource) i);
}

/* @source: (nullable); a number that no GPU has is ignored. */
static void
take_gpu_threads (Loader *loader, const JsonItem *source)
{
  gint64 n_threads = source != NULL ? json_get_int (source, "gpu_threads", 0) : 0;

  if (n_threads >= 256 && n_threads <= G_MAXINT32)
    bundle_builder_set_gpu_threads (loader->builder, n_threads);
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
read_recording (Loader *loader, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%s: recording.json", loader->path);
  g_autoptr (GBytes) bytes = NULL;

  if (!entries_has (loader->entries, "recording.json"))
    return TRUE;
  bytes = entries_read (loader->entries, "recording.json", ENTRIES_MAX_BYTES, loader->diags, error);
  return bytes != NULL && recording_read (name, bytes, loader->builder, error);
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
  bundle_builder_set_torch_version (
      loader->builder, json_get_text (json_get (loader->manifest, "source"), "torch_version"));
  take_random_source (loader,
                      json_get_text (json_get (loader->manifest, "source"), "random_numbers"));
  take_gpu_threads (loader, json_get (loader->manifest, "source"));
  keep_members (loader);
  remarks_read (loader->manifest, loader->diags);
  if (!(keep_entries (loader, error) &&
        define_symbols (loader, json_get (loader->manifest, "symbols"), loader->symbols, error) &&
        add_each (loader, "tensors", LOADER_MAX_GRAPHS, add_hash, error) &&
        loader_list_graphs (loader, error) &&
        add_each (loader, "regions", LOADER_MAX_GRAPHS, add_region_symbols, error) &&
        loader_read_graphs (loader, error) &&
        add_each (loader, "regions", LOADER_MAX_GRAPHS, add_region, error) &&
        add_each (loader, "calls", MAX_CALLS, add_call, error) &&
        add_each (loader, "runs", MAX_CALLS, add_run, error) &&
        add_each (loader, "weights", LOADER_MAX_GRAPHS, add_weights, error) &&
        read_recording (loader, error)))
    return FALSE;
  tensor_files_keep_loose (loader->files, loader->builder);
  if (entries_are_unfinished (loader->entries))
    adj_diags_add (loader->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                   "a writer was stopped before the folder was complete: it is when you save it");
  return entries_check_unchanged (loader->entries, error);
}

static void
clear_loader (Loader *loader)
{
  g_clear_pointer (&loader->entries, entries_free);
  g_hash_table_unref (loader->graphs);
  read_objects_free (loader->objects);
  g_clear_pointer (&loader->files, tensor_files_close);
  adj_symbols_unref (loader->symbols);
  g_clear_pointer (&loader->builder, adj_bundle_builder_free);
  g_clear_pointer (&loader->diags, adj_diags_free);
  adj_arena_free (loader->arena);
}

static AdjBundle *
load_once (const char *path, GCancellable *cancellable, gboolean *changed, GError **error)
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

  loader.within = loader.symbols;
  loader.graphs = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, loader_free_graph);
  loader.objects = read_objects_new ();
  loader.entries = entries_open (path, cancellable, error);
  loader.files = tensor_files_new (path, loader.entries, loader.diags);
  if (loader.entries != NULL && read_manifest (&loader, error))
    bundle =
        adj_bundle_builder_end (g_steal_pointer (&loader.builder), g_steal_pointer (&loader.diags));
  *changed = loader.entries != NULL && !entries_check_unchanged (loader.entries, NULL);
  clear_loader (&loader);
  return bundle;
}

/* A folder that is written meanwhile is read again, since parts of two writes do not fit together.
 */
AdjBundle *
adjoint_load (const char *path, GCancellable *cancellable, GError **error)
{
  gint64 end = g_get_monotonic_time () + WAIT;

  for (;;)
    {
      g_autoptr (GError) reason = NULL;
      gboolean changed;
      AdjBundle *bundle = load_once (path, cancellable, &changed, &reason);

      if (bundle != NULL)
        return bundle;
      if (!changed || g_cancellable_is_cancelled (cancellable) || g_get_monotonic_time () > end)
        {
          g_propagate_error (error, g_steal_pointer (&reason));
          return NULL;
        }
      g_usleep (PAUSE);
    }
}
