/* SPDX-License-Identifier: MIT */
/* Gathers what a TRACE log says of each compiled region until its graphs are complete. */

#include <string.h>

#include "base/adj-diag-internal.h"
#include "base/adj-lexer.h"
#include "formats/adj-bundle-private.h"
#include "formats/log-sources-private.h"
#include "formats/python-repr-private.h"
#include "formats/regions-private.h"
#include "formats/runnable-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-text-internal.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

#define MAX_GRAPHS 10000
#define MAX_WARNINGS 20   /* of one graph */
#define MAX_REASONS 10000 /* of a region */

typedef struct
{
  char *id;         /* "0-0", "r1-ca2" */
  char *compile_id; /* "0/0", "!2" */
  RegionKey key;
  GPtrArray *graph_ids;
  GHashTable *symbols; /* name → AdjSymbol; texts interned in the arena */
  LogSources sources;
  AdjValue metadata;  /* DICT, or NONE */
  GPtrArray *reasons; /* (nullable) texts */
} Region;

/* The part of a file that is skipped. */
typedef struct
{
  char *name;
  guint line; /* the first skipped line */
  char *why;
} Skipped;

struct _Regions
{
  AdjBundleBuilder *builder;
  AdjDiags *diags;
  AdjArena *arena;
  GPtrArray *regions;
  GHashTable *by_id;  /* id → region, which owns it */
  GHashTable *ids;    /* id of a graph → number of graphs that claimed it */
  GPtrArray *skipped; /* Skipped */
  guint n_graphs;
  gboolean names_files; /* remarks say which file they are about */
  gboolean left_out;    /* some facts exceeded the limit */
};

static void
region_free (Region *region)
{
  g_free (region->id);
  g_free (region->compile_id);
  g_ptr_array_unref (region->graph_ids);
  g_hash_table_unref (region->symbols);
  log_sources_clear (&region->sources);
  adj_value_clear (&region->metadata);
  g_clear_pointer (&region->reasons, g_ptr_array_unref);
  g_free (region);
}

static void
skipped_free (gpointer data)
{
  Skipped *skipped = data;

  g_free (skipped->name);
  g_free (skipped->why);
  g_free (skipped);
}

Regions *
regions_new (void)
{
  Regions *regions = g_new0 (Regions, 1);

  regions->builder = adj_bundle_builder_new ();
  regions->diags = adj_diags_new ();
  regions->arena = adj_arena_new ();
  regions->regions = g_ptr_array_new_with_free_func ((GDestroyNotify) region_free);
  regions->by_id = g_hash_table_new (g_str_hash, g_str_equal);
  regions->ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  regions->skipped = g_ptr_array_new_with_free_func (skipped_free);
  return regions;
}

void
regions_name_files (Regions *regions)
{
  regions->names_files = TRUE;
}

void
regions_free (Regions *regions)
{
  g_clear_pointer (&regions->builder, adj_bundle_builder_free);
  g_clear_pointer (&regions->diags, adj_diags_free);
  adj_arena_free (regions->arena);
  g_ptr_array_unref (regions->regions);
  g_hash_table_unref (regions->by_id);
  g_hash_table_unref (regions->ids);
  g_ptr_array_unref (regions->skipped);
  g_free (regions);
}

/* "r1-ca2-0-0-1" and "!2/0/0": the parts that there are. */
static void
name_region (Region *region)
{
  const RegionKey *key = &region->key;
  g_autoptr (GString) id = g_string_new (NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  if (key->rank >= 0)
    g_string_append_printf (id, "r%d-", key->rank);
  if (key->process > 0)
    g_string_append_printf (id, "p%d-", key->process);
  if (key->compiled_autograd >= 0)
    {
      g_string_append_printf (id, "ca%" G_GINT64_FORMAT, key->compiled_autograd);
      g_string_append_printf (text, "!%" G_GINT64_FORMAT, key->compiled_autograd);
    }
  if (key->frame >= 0)
    {
      g_string_append_printf (id, "%s%" G_GINT64_FORMAT "-%" G_GINT64_FORMAT,
                              key->compiled_autograd >= 0 ? "-" : "", key->frame,
                              MAX (key->compile, 0));
      g_string_append_printf (text, "%s%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT,
                              key->compiled_autograd >= 0 ? "/" : "", key->frame,
                              MAX (key->compile, 0));
    }
  if (text->len == 0)
    g_string_append (id, "none");
  if (key->attempt > 0)
    g_string_append_printf (id, "-%" G_GINT64_FORMAT, key->attempt);
  region->id = g_string_free (g_steal_pointer (&id), FALSE);
  region->compile_id = g_string_free (g_steal_pointer (&text), FALSE);
}

static Region *
region_new (const RegionKey *key)
{
  Region *region = g_new0 (Region, 1);

  region->key = *key;
  region->graph_ids = g_ptr_array_new_with_free_func (g_free);
  region->symbols = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  log_sources_init (&region->sources);
  name_region (region);
  return region;
}

static Region *
find_region (Regions *regions, const RegionKey *key)
{
  Region *region = region_new (key);
  Region *known = g_hash_table_lookup (regions->by_id, region->id);

  if (known != NULL)
    {
      region_free (region);
      return known;
    }
  g_ptr_array_add (regions->regions, region);
  g_hash_table_insert (regions->by_id, region->id, region);
  return region;
}

gboolean
regions_has_graph (Regions *regions, const RegionKey *key, const char *role)
{
  const Region *region = find_region (regions, key);

  for (guint i = 0; i < region->graph_ids->len; i++)
    if (role == NULL || g_str_has_suffix (region->graph_ids->pdata[i], role))
      return TRUE;
  return FALSE;
}

void
regions_define_symbol (Regions *regions, const RegionKey *key, const AdjSymbol *symbol)
{
  AdjSymbol *copy = g_memdup2 (symbol, sizeof *symbol);

  copy->name = adj_arena_intern (regions->arena, symbol->name);
  copy->source = symbol->source != NULL ? adj_arena_intern (regions->arena, symbol->source) : NULL;
  g_hash_table_replace (find_region (regions, key)->symbols, (gpointer) copy->name, copy);
}

void
regions_set_metadata (Regions *regions, const RegionKey *key, const char *text)
{
  Region *region = find_region (regions, key);
  g_auto (AdjValue) value = ADJ_NONE;

  if (region->metadata.kind == ADJ_VALUE_NONE && python_repr_parse (text, strlen (text), &value) &&
      value.kind == ADJ_VALUE_DICT)
    region->metadata = adj_value_steal (&value);
}

void
regions_add_reason (Regions *regions, const RegionKey *key, const char *text)
{
  Region *region = find_region (regions, key);

  if (region->reasons == NULL)
    region->reasons = g_ptr_array_new_with_free_func (g_free);
  if (region->reasons->len < MAX_REASONS)
    g_ptr_array_add (region->reasons, g_utf8_make_valid (text, -1));
}

static void
warn (const Regions *regions,
      AdjDiags *diags,
      const char *name,
      guint line,
      const char *what,
      const char *why)
{
  adj_diags_add (diags, ADJ_SEVERITY_WARNING, (AdjSpan){ line, 1, 0 }, "%s%s%s: %s",
                 regions->names_files ? name : "", regions->names_files ? ": " : "", what, why);
}

void
regions_warn (Regions *regions, const char *name, guint line, const char *what, const char *why)
{
  warn (regions, regions->diags, name, line, what, why);
}

void
regions_set_skipped (Regions *regions, const char *name, guint line, const char *why)
{
  Skipped *skipped = NULL;

  for (guint i = 0; i < regions->skipped->len && skipped == NULL; i++)
    if (strcmp (((Skipped *) regions->skipped->pdata[i])->name, name) == 0)
      skipped = regions->skipped->pdata[i];
  if (*why == '\0')
    {
      g_ptr_array_remove (regions->skipped, skipped);
      return;
    }
  if (skipped == NULL)
    {
      skipped = g_new0 (Skipped, 1);
      skipped->name = g_strdup (name);
      g_ptr_array_add (regions->skipped, skipped);
    }
  skipped->line = line;
  g_free (skipped->why);
  skipped->why = g_strdup (why);
}

void
regions_add_fact (Regions *regions,
                  const RegionKey *key,
                  const char *name,
                  const char *text,
                  const char *file,
                  guint line)
{
  char *valid = g_utf8_make_valid (text, -1);
  g_autofree char *valid_name = g_utf8_make_valid (name, -1);
  g_autoptr (GBytes) bytes = g_bytes_new_take (valid, strlen (valid));
  AdjBundleFact fact = {
    .name = valid_name, .text = bytes, .file = regions->names_files ? file : NULL, .line = line
  };

  if (adj_bundle_builder_add_fact (regions->builder, &fact, find_region (regions, key)->id) ||
      regions->left_out)
    return;
  regions->left_out = TRUE;
  regions_warn (regions, file, line, name,
                "there is too much beside the graphs: the rest of it is "
                "left out");
}

void
regions_set_torch_version (Regions *regions, const char *version)
{
  if (adj_bundle_get_torch_version (bundle_builder_peek (regions->builder)) == NULL)
    bundle_builder_set_torch_version (regions->builder, version);
}

/* A long role is cut so that its id is one, with a number. */
static char *
unique_id (Regions *regions, const Region *region, const char *role)
{
  int room = BUNDLE_MAX_ID - (int) strlen (region->id) - (int) strlen ("--10000");
  g_autofree char *base = g_strdup_printf ("%s-%.*s", region->id, MAX (room, 1), role);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (regions->ids, base));
  char *id = n == 0 ? g_strdup (base) : NULL;

  while (id == NULL || g_hash_table_contains (regions->ids, id))
    {
      g_free (id);
      id = g_strdup_printf ("%s-%u", base, ++n);
    }
  g_hash_table_replace (regions->ids, g_steal_pointer (&base), GUINT_TO_POINTER (MAX (n, 1)));
  if (n > 1)
    g_hash_table_insert (regions->ids, g_strdup (id), GUINT_TO_POINTER (1));
  return id;
}

static void
define_symbols (const Region *region, AdjGraph *graph)
{
  AdjSymbols *symbols = adj_graph_get_symbols (graph);
  guint n = adj_symbols_get_n (symbols);

  for (guint i = 0; i < n; i++)
    {
      const AdjSymbol *symbol =
          g_hash_table_lookup (region->symbols, adj_symbols_get (symbols, i)->name);

      if (symbol != NULL)
        adj_symbols_define (symbols, symbol);
    }
}

void
regions_add_source (Regions *regions, const RegionKey *key, const char *source)
{
  log_sources_add (&find_region (regions, key)->sources, source);
}

/* -- graphs -- */

static void
pass_on (Regions *regions, const AdjDiags *diags, const char *name, guint line, const char *role)
{
  guint n = adj_diags_get_n (diags);

  for (guint i = 0; i < MIN (n, MAX_WARNINGS); i++)
    {
      const AdjDiag *diag = adj_diags_get (diags, i);

      regions_warn (regions, name, line + MAX (diag->span.line, 1) - 1, role, diag->message);
    }
  if (n > MAX_WARNINGS)
    {
      g_autofree char *more = g_strdup_printf ("and %u more like these", n - MAX_WARNINGS);

      regions_warn (regions, name, line, role, more);
    }
}

gboolean
regions_add_graph (Regions *regions,
                   const RegionKey *key,
                   const char *role,
                   const char *text,
                   const char *name,
                   guint line,
                   GError **error)
{
  Region *region = find_region (regions, key);
  g_autoptr (GError) reason = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (GBytes) original = NULL;
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autofree char *annotated = runnable_annotate (text, strlen (text));
  GHashTable *metadata_texts =
      strcmp (role, "inference") == 0 ? region->sources.in_inference : region->sources.texts;
  g_autofree char *id = NULL;
  AdjBundleGraph entry = {
    .role = role,
    .compile_id = region->compile_id,
    .rank = region->key.rank,
  };

  if (regions->n_graphs++ >= MAX_GRAPHS)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "%s: more than %d graphs", name, MAX_GRAPHS);
      return FALSE;
    }
  graph = adj_graph_parse_with (annotated != NULL ? annotated : text, -1, adj_op_find,
                                metadata_texts, diags, &reason);
  pass_on (regions, diags, name, line, role);
  if (graph != NULL)
    {
      if (strcmp (role, "dynamo") == 0)
        log_sources_keep_inputs (&region->sources, graph);
      define_symbols (region, graph);
      id = unique_id (regions, region, role);
      entry.id = entry.title = id;
      entry.graph = graph;
    }
  if (graph == NULL || !adj_bundle_builder_add_graph (regions->builder, &entry, &reason))
    {
      regions_warn (regions, name, line, role, reason->message);
      return TRUE;
    }
  original = g_bytes_new (text, strlen (text));
  adj_bundle_builder_set_text (regions->builder, id, original);
  g_ptr_array_add (region->graph_ids, g_steal_pointer (&id));
  return TRUE;
}

static AdjValue
text_value (const char *text)
{
  return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (text), .text = text };
}

/* {"reasons": [text, …]}, as AdjRegion.capture has it. */
static AdjValue
capture_of (AdjArena *arena, const GPtrArray *reasons)
{
  AdjValue *texts = adj_arena_new0 (arena, AdjValue, reasons->len);
  AdjValue *pair = adj_arena_new0 (arena, AdjValue, 2);

  for (guint i = 0; i < reasons->len; i++)
    texts[i] = text_value (reasons->pdata[i]);
  pair[0] = text_value ("reasons");
  pair[1] = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = reasons->len, .items = texts };

  return (AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = pair };
}

static gboolean
add_region (Regions *regions, AdjBundleBuilder *builder, const Region *region, GError **error)
{
  AdjValue capture;
  AdjRegion entry = {
    .id = region->id,
    .compile_id = region->compile_id,
    .rank = region->key.rank,
    .process = region->key.process,
    .attempt = (gint) MAX (region->key.attempt, 0),
    .n_graphs = region->graph_ids->len,
    .num_fwd_outputs = -1,
  };

  if (region->metadata.kind == ADJ_VALUE_DICT)
    entry.metadata = &region->metadata;
  if (region->reasons != NULL)
    {
      capture = capture_of (regions->arena, region->reasons);
      entry.capture = &capture;
    }
  return region->graph_ids->len == 0 ||
         adj_bundle_builder_add_region (builder, &entry,
                                        (const char *const *) region->graph_ids->pdata, error);
}

/* The first remark is the likeliest reason. */
static void
fail_without_graph (const AdjDiags *diags, const char *path, GError **error)
{
  const AdjDiag *first = adj_diags_get_n (diags) > 0 ? adj_diags_get (diags, 0) : NULL;

  if (first == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: holds no graph", path);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s:%u:%u: holds no graph; %s", path,
                 first->span.line, MAX (first->span.column, 1), first->message);
}

/* (transfer full) */
static AdjDiags *
all_remarks (const Regions *regions)
{
  AdjDiags *diags = adj_diags_copy (regions->diags);

  for (guint i = 0; i < regions->skipped->len; i++)
    {
      const Skipped *skipped = regions->skipped->pdata[i];

      warn (regions, diags, skipped->name, skipped->line, "passed over", skipped->why);
    }
  return diags;
}

AdjBundle *
regions_make_bundle (Regions *regions, const char *path, const char *description, GError **error)
{
  g_autoptr (AdjDiags) diags = all_remarks (regions);
  g_autoptr (AdjBundleBuilder) builder = NULL;

  if (g_hash_table_size (regions->ids) == 0)
    {
      fail_without_graph (diags, path, error);
      return NULL;
    }
  builder = bundle_builder_copy (regions->builder);
  for (guint i = 0; i < regions->regions->len; i++)
    if (!add_region (regions, builder, regions->regions->pdata[i], error))
      return NULL;
  bundle_builder_sort_by_rank (builder);
  adj_bundle_builder_set_description (builder, description);
  return adj_bundle_builder_end (g_steal_pointer (&builder), g_steal_pointer (&diags));
}
