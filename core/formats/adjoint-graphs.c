/* SPDX-License-Identifier: MIT */
/* The graphs of .adjoint, each read when the first value or list asks for it. */

#include <gio/gio.h>

#include "formats/adj-bundle-private.h"
#include "formats/adjoint-loader-private.h"
#include "formats/graph-json-private.h"
#include "formats/remarks-private.h"
#include "ir/adj-graph.h"

void
loader_free_graph (gpointer data)
{
  GraphEntry *entry = data;

  g_clear_pointer (&entry->graph, adj_graph_unref);
  g_clear_pointer (&entry->symbols, adj_symbols_unref);
  g_free (entry);
}

static AdjTensorData *
get_tensor (gpointer data, const JsonReader *json, const JsonItem *place, GError **error)
{
  return tensor_files_get (((Loader *) data)->files, json, place, error);
}

static AdjOpaque *
get_object (gpointer data, const ValueReader *reader, const JsonItem *item, GError **error)
{
  return object_read (((Loader *) data)->objects, reader, item, error);
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
                         .symbols = entry->symbols != NULL ? entry->symbols : loader->within,
                         .strings = json_get (loader->manifest, "strings"),
                         .get_tensor = get_tensor,
                         .get_graph = get_graph,
                         .get_object = get_object,
                         .data = loader };
  AdjSymbols *around = loader->within;
  g_autoptr (GBytes) bytes = NULL;

  if (g_cancellable_set_error_if_cancelled (loader->cancellable, error))
    return NULL;
  bytes = entries_read (loader->entries, place, ENTRIES_MAX_BYTES, loader->diags, error);
  if (bytes == NULL)
    return NULL;
  entries_check_hash (place, bytes, json_get_text (entry->item, "sha256"), ADJ_SEVERITY_WARNING,
                      loader->diags);
  entry->state = GRAPH_BEING_READ;
  loader->depth++;
  loader->within = source.symbols;
  entry->graph = graph_read_json (&source, bytes, kept, error);
  loader->within = around;
  loader->depth--;
  entry->state = GRAPH_READ;
  if (kept->len > 0)
    bundle_builder_keep_in_graph (loader->builder, id, kept->str);
  return entry->graph;
}

gboolean
loader_get_objects (
    Loader *loader, const char *key, guint max, const JsonItem **out, GError **error)
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

gint
loader_get_rank (const JsonItem *item)
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
                           .rank = loader_get_rank (item) };
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

gboolean
loader_list_graphs (Loader *loader, GError **error)
{
  const JsonItem *list;

  if (!loader_get_objects (loader, "graphs", LOADER_MAX_GRAPHS, &list, error))
    return FALSE;
  if (list->n == 0)
    {
      g_autofree char *why = remarks_why_empty (loader->manifest);

      json_fail (&loader->json, list->line > 0 ? list : loader->manifest, error,
                 "the file holds no graph%s%s", why != NULL ? ": " : "", why != NULL ? why : "");
      return FALSE;
    }
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
  return TRUE;
}

gboolean
loader_read_graphs (Loader *loader, GError **error)
{
  const JsonItem *list;

  if (!loader_get_objects (loader, "graphs", LOADER_MAX_GRAPHS, &list, error))
    return FALSE;
  for (guint i = 0; i < list->n; i++)
    if (!add_graph (loader, &list->items[i], error))
      return FALSE;
  return TRUE;
}

ValueReader
loader_read_values (Loader *loader, gboolean plain)
{
  return (ValueReader){ .json = &loader->json,
                        .arena = loader->arena,
                        .symbols = loader->symbols,
                        .strings = json_get (loader->manifest, "strings"),
                        .plain = plain,
                        .get_tensor = get_tensor,
                        .get_graph = get_graph,
                        .get_object = get_object,
                        .data = loader };
}
