/* SPDX-License-Identifier: MIT */
/* Writes the manifest of .adjoint: graphs, regions, calls, runs, symbols and tables. */

#include <string.h>

#include "formats/adjoint-private.h"
#include "formats/adjoint-saver-private.h"
#include "formats/value-json-private.h"
#include "ir/adj-graph.h"

static void
open_list (GString *out, const char *key, guint n)
{
  g_string_append_printf (out, ",\n\"%s\": [%s", key, n > 0 ? "\n" : "");
}

static void
close_list (GString *out, guint n)
{
  g_string_append (out, n > 0 ? "\n]" : "]");
}

static void
put_text_or_null (const char *text, GString *out)
{
  if (text != NULL)
    json_print_string (text, out);
  else
    g_string_append (out, "null");
}

static void
put_count_or_null (gint count, GString *out)
{
  if (count >= 0)
    g_string_append_printf (out, "%d", count);
  else
    g_string_append (out, "null");
}

static void
put_graph_record (const AdjointSaver *saver, const SavedGraph *graph, GString *out)
{
  const AdjBundleGraph *known = graph->known;

  g_string_append (out, "{\"compile_id\": ");
  put_text_or_null (known != NULL ? known->compile_id : NULL, out);
  g_string_append_printf (out, ", \"id\": \"%s\", \"rank\": ", graph->id);
  put_count_or_null (known != NULL ? known->rank : -1, out);
  g_string_append (out, ", \"role\": ");
  json_print_string (graph->role, out);
  g_string_append_printf (
      out, ", \"sha256\": \"%s\", \"title\": ", (const char *) saver->sums->pdata[graph->item]);
  json_print_string (known != NULL ? known->title : graph->id, out);
  g_string_append_c (out, '}');
}

/* "tensors/ID.safetensors" */
static void
put_tensor_file (const AdjointSaver *saver, guint item, GString *out)
{
  const char *name = g_array_index (saver->items, ZipItem, item).name;
  g_autofree char *base = g_path_get_basename (name);

  g_string_append_printf (out, "{\"id\": \"%.*s\", \"sha256\": \"%s\"}",
                          (int) (strlen (base) - strlen (".safetensors")), base,
                          (const char *) saver->sums->pdata[item]);
}

static gboolean
is_later_of_role (const AdjRegion *region, guint index)
{
  for (guint i = 0; i < index; i++)
    if (strcmp (region->graphs[i]->role, region->graphs[index]->role) == 0)
      return TRUE;
  return FALSE;
}

static void
put_region_graphs (const AdjRegion *region, GString *out)
{
  g_string_append_c (out, '{');
  for (guint i = 0; i < region->n_graphs; i++)
    {
      g_autofree char *key = NULL;

      key = is_later_of_role (region, i) ? g_strdup_printf ("%s-%u", region->graphs[i]->role, i)
                                         : g_strdup (region->graphs[i]->role);
      g_string_append (out, i > 0 ? ", " : "");
      json_print_string (key, out);
      g_string_append_printf (out, ": \"%s\"", region->graphs[i]->id);
    }
  g_string_append_c (out, '}');
}

static AdjSymbols *
get_symbols (const AdjointSaver *saver)
{
  if (saver->graphs->len == 0)
    return NULL;
  return adj_graph_get_symbols (g_array_index (saver->graphs, SavedGraph, 0).graph);
}

static ValueWriter
value_writer (AdjointSaver *saver, gboolean plain)
{
  return (ValueWriter){ .symbols = get_symbols (saver),
                        .plain = plain,
                        .put_tensor = saver_put_tensor,
                        .put_graph = saver_put_graph,
                        .get_state = saver_get_state,
                        .data = saver };
}

/* "key": dict, and a comma, when there is one. */
static gboolean
put_dict (
    const ValueWriter *writer, const char *key, const AdjValue *dict, GString *out, GError **error)
{
  if (dict == NULL)
    return TRUE;
  g_string_append_printf (out, "\"%s\": ", key);
  if (!value_write (writer, dict, out, error))
    return FALSE;
  g_string_append (out, ", ");
  return TRUE;
}

static void
put_symbol (const AdjSymbol *symbol, GString *out)
{
  json_print_string (symbol->name, out);
  g_string_append (out, ": {");
  if (symbol->hint != ADJ_SYMBOL_UNBACKED)
    g_string_append_printf (out, "\"hint\": %" G_GINT64_FORMAT ", ", symbol->hint);
  g_string_append (out, "\"range\": [");
  if (symbol->min == G_MININT64)
    g_string_append (out, "null, ");
  else
    g_string_append_printf (out, "%" G_GINT64_FORMAT ", ", symbol->min);
  if (symbol->max == G_MAXINT64)
    g_string_append (out, "null]");
  else
    g_string_append_printf (out, "%" G_GINT64_FORMAT "]", symbol->max);
  if (symbol->source != NULL)
    {
      g_string_append (out, ", \"source\": ");
      json_print_string (symbol->source, out);
    }
  g_string_append_c (out, '}');
}

static gint
compare_symbols (gconstpointer a, gconstpointer b)
{
  const AdjSymbol *first = *(const AdjSymbol *const *) a, *second = *(const AdjSymbol *const *) b;

  return strcmp (first->name, second->name);
}

static void
add_symbols (AdjSymbols *table, GHashTable *seen, GPtrArray *list)
{
  for (guint i = 0; i < adj_symbols_get_n (table); i++)
    if (g_hash_table_add (seen, (gpointer) adj_symbols_get (table, i)->name))
      g_ptr_array_add (list, (gpointer) adj_symbols_get (table, i));
}

/* Sorts @list. */
static void
put_symbol_list (GPtrArray *list, GString *out)
{
  g_ptr_array_sort (list, compare_symbols);
  g_string_append_c (out, '{');
  for (guint i = 0; i < list->len; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "\n");
      put_symbol (list->pdata[i], out);
    }
  g_string_append (out, list->len > 0 ? "\n}" : "}");
}

/* Writes the symbols of a region where graphs of the file have different symbol tables. */
static void
put_region_symbols (const AdjointSaver *saver, const AdjRegion *region, GString *out)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();
  gboolean differ = FALSE;

  for (guint i = 0; i < saver->graphs->len; i++)
    differ |= adj_graph_get_symbols (g_array_index (saver->graphs, SavedGraph, i).graph) !=
              get_symbols (saver);
  if (!differ || region->n_graphs == 0)
    return;
  add_symbols (adj_graph_get_symbols (region->graphs[0]->graph), seen, list);
  g_string_append (out, ", \"symbols\": ");
  put_symbol_list (list, out);
}

static gboolean
put_region (AdjointSaver *saver, guint index, GString *out, GError **error)
{
  const AdjRegion *region = adj_bundle_get_region (saver->bundle, index);
  ValueWriter writer = value_writer (saver, TRUE);

  if (region->n_graphs > 0)
    writer.symbols = adj_graph_get_symbols (region->graphs[0]->graph);
  g_string_append_printf (out, "{\"attempt\": %d, ", region->attempt);
  if (!put_dict (&writer, "capture", region->capture, out, error))
    return FALSE;
  g_string_append (out, "\"compile_id\": ");
  put_text_or_null (region->compile_id, out);
  g_string_append (out, ", \"fw_metadata\": ");
  if (region->metadata == NULL)
    g_string_append (out, "null");
  else if (!value_write (&writer, region->metadata, out, error))
    return FALSE;
  g_string_append (out, ", \"graphs\": ");
  put_region_graphs (region, out);
  g_string_append_printf (out, ", \"id\": \"%s\", \"num_fwd_outputs\": ", region->id);
  put_count_or_null (region->num_fwd_outputs, out);
  g_string_append (out, ", ");
  if (!put_dict (&writer, "partition", region->partition, out, error))
    return FALSE;
  if (region->process > 0)
    g_string_append_printf (out, "\"process\": %d, ", region->process);
  g_string_append (out, "\"rank\": ");
  put_count_or_null (region->rank, out);
  put_region_symbols (saver, region, out);
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
put_values (AdjointSaver *saver, const AdjValue *values, guint n, GString *out, GError **error)
{
  ValueWriter writer = value_writer (saver, FALSE);

  g_string_append_c (out, '[');
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i > 0 ? ", " : "");
      if (!value_write (&writer, &values[i], out, error))
        return FALSE;
    }
  g_string_append_c (out, ']');
  return TRUE;
}

/* "key": [values], and a comma, when there are any. */
static gboolean
put_optional (AdjointSaver *saver,
              const char *key,
              const AdjValue *values,
              guint n,
              GString *out,
              GError **error)
{
  if (values == NULL)
    return TRUE;
  g_string_append_printf (out, "\"%s\": ", key);
  if (!put_values (saver, values, n, out, error))
    return FALSE;
  g_string_append (out, ", ");
  return TRUE;
}

/* Writes the origin of a run. */
static void
put_origin (const AdjRunOrigin *origin, GString *out)
{
  const struct
  {
    const char *key, *text;
  } texts[] = {
    { "date", origin->date },   { "executor", origin->executor },
    { "graph", origin->graph }, { "inputs", origin->inputs },
    { "name", origin->name },   { "producer", origin->producer },
  };

  g_string_append (out, "\"run\": {");
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      g_string_append_printf (out, "\"%s\": ", texts[i].key);
      put_text_or_null (texts[i].text, out);
      g_string_append (out, ", ");
    }
  g_string_append_printf (out, "\"float64\": %s}, ", origin->float64 ? "true" : "false");
}

/* @taps: (nullable): the member for the values of nodes */
static gboolean
put_call (AdjointSaver *saver,
          const AdjRecordedCall *call,
          const char *taps,
          GString *out,
          GError **error)
{
  ValueWriter writer = value_writer (saver, TRUE);

  g_string_append_c (out, '{');
  if (!put_dict (&writer, "backward", call->backward, out, error))
    return FALSE;
  g_string_append_printf (out, "\"derived\": %s, ", call->derived ? "true" : "false");
  if (!put_optional (saver, "gradients", call->gradients, call->n_inputs, out, error))
    return FALSE;
  g_string_append_printf (out, "\"graph\": \"%s\", \"inputs\": ", call->graph->id);
  if (!put_values (saver, call->inputs, call->n_inputs, out, error))
    return FALSE;
  g_string_append_printf (out, ", \"n\": %u, \"outputs\": ", call->n);
  if (!put_values (saver, call->outputs, call->n_outputs, out, error))
    return FALSE;
  g_string_append (out, ", ");
  if (!put_dict (&writer, "rng", call->rng, out, error))
    return FALSE;
  if (call->origin != NULL)
    put_origin (call->origin, out);
  if (!put_optional (saver, "tangents", call->tangents, call->n_outputs, out, error))
    return FALSE;
  if (taps != NULL)
    g_string_append_printf (out, "\"taps\": %s, ", taps);
  g_string_truncate (out, out->len - strlen (", "));
  g_string_append_c (out, '}');
  return TRUE;
}

static gboolean
put_recorded (AdjointSaver *saver, guint index, GString *out, GError **error)
{
  const AdjRecordedCall *call = adj_bundle_get_call (saver->bundle, index);
  guint leader = saver_find_tap_leader (saver, index);
  g_autofree char *taps = NULL;

  if (bundle_has_taps (call))
    taps = g_strdup_printf ("{\"f32\": \"tap32-%u\", \"f64\": \"tap64-%u\"}", leader, leader);
  return put_call (saver, call, taps, out, error);
}

static gboolean
put_run (AdjointSaver *saver, guint index, GString *out, GError **error)
{
  const AdjRecordedCall *run = saver->runs->pdata[index];
  g_autofree char *taps = NULL;

  if (bundle_has_taps (run))
    taps = g_strdup_printf ("{\"f32\": \"" SAVED_RUN_VALUES "\"}", index);
  return put_call (saver, run, taps, out, error);
}

static gboolean
put_weights (AdjointSaver *saver, guint index, GString *out, GError **error)
{
  const AdjRecordedCall *known = saver->bundle->weights->pdata[index];

  g_string_append_printf (out, "{\"graph\": \"%s\", \"inputs\": ", known->graph->id);
  if (!put_values (saver, known->inputs, known->n_inputs, out, error))
    return FALSE;
  g_string_append_c (out, '}');
  return TRUE;
}

/* ",\n"key": [" and what @put gives for each. */
static gboolean
put_list (AdjointSaver *saver,
          const char *key,
          guint n,
          gboolean (*put) (AdjointSaver *, guint, GString *, GError **),
          GString *out,
          GError **error)
{
  open_list (out, key, n);
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "");
      if (!put (saver, i, out, error))
        return FALSE;
    }
  close_list (out, n);
  return TRUE;
}

/* Writes the symbols of all graphs; where graphs disagree on one, put_region_symbols() adds the
 * region's. */
static void
put_symbols (const AdjointSaver *saver, GString *out)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) list = g_ptr_array_new ();

  for (guint i = 0; i < saver->graphs->len; i++)
    add_symbols (adj_graph_get_symbols (g_array_index (saver->graphs, SavedGraph, i).graph), seen,
                 list);
  put_symbol_list (list, out);
}

static void
put_head (AdjointSaver *saver, GString *out)
{
  const char *source = bundle_get_kept (saver->bundle, "source");

  g_string_append_printf (out,
                          "{\"format\": \"adjoint\",\n\"version\": [%d, %d],\n\"requires\": [],\n"
                          "\"source\": ",
                          ADJOINT_MAJOR, ADJOINT_MINOR);
  if (source != NULL)
    g_string_append (out, source);
  else
    {
      g_string_append (out, "{\"description\": ");
      json_print_string (adj_bundle_get_description (saver->bundle), out);
      g_string_append (out, ", \"kind\": \"adjoint\"}");
    }
  g_string_append (out,
                   ",\n\"producer\": {\"name\": \"adjoint\", \"version\": \"" ADJ_VERSION "\"}");
}

static void
put_tail (AdjointSaver *saver, GString *out)
{
  g_autoptr (GList) kept = bundle_list_kept (saver->bundle);

  open_list (out, "strings", saver->string_list->len);
  for (guint i = 0; i < saver->string_list->len; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "");
      json_print_string (saver->string_list->pdata[i], out);
    }
  close_list (out, saver->string_list->len);
  g_string_append (out, ",\n\"symbols\": ");
  put_symbols (saver, out);
  for (GList *key = kept; key != NULL; key = key->next)
    if (!adjoint_is_known_member (key->data))
      {
        g_string_append (out, ",\n");
        json_print_string (key->data, out);
        g_string_append_printf (out, ": %s", bundle_get_kept (saver->bundle, key->data));
      }
  g_string_append (out, "}\n");
}

gboolean
saver_put_manifest (AdjointSaver *saver, GString *out, GError **error)
{
  put_head (saver, out);
  open_list (out, "graphs", saver->graphs->len);
  for (guint i = 0; i < saver->graphs->len; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "");
      put_graph_record (saver, &g_array_index (saver->graphs, SavedGraph, i), out);
    }
  close_list (out, saver->graphs->len);
  open_list (out, "tensors", saver->tensors->len);
  for (guint i = 0; i < saver->tensors->len; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "");
      put_tensor_file (saver, g_array_index (saver->tensors, guint, i), out);
    }
  close_list (out, saver->tensors->len);
  if (!put_list (saver, "regions", adj_bundle_get_n_regions (saver->bundle), put_region, out,
                 error) ||
      !put_list (saver, "calls", adj_bundle_get_n_calls (saver->bundle), put_recorded, out,
                 error) ||
      (saver->runs->len > 0 && !put_list (saver, "runs", saver->runs->len, put_run, out, error)) ||
      (saver->bundle->weights->len > 0 &&
       !put_list (saver, "weights", saver->bundle->weights->len, put_weights, out, error)))
    return FALSE;
  put_tail (saver, out);
  return TRUE;
}
