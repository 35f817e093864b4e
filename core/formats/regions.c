/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/adj-lexer.h"
#include "formats/python-repr-private.h"
#include "formats/regions-private.h"
#include "ir/adj-text.h"

#define MAX_GRAPHS 10000
#define MAX_SOURCES 100000 /* of a region */
#define MAX_WARNINGS 20    /* of one graph */

typedef struct
{
  char *id;         /* "0-0", "r1-ca2" */
  char *compile_id; /* "0/0", "!2" */
  RegionKey key;
  GPtrArray *graph_ids;
  GArray *symbols;     /* of AdjSymbol; texts interned in the arena */
  GHashTable *sources; /* name of a Dynamo placeholder → expression */
  GPtrArray *inputs;   /* (nullable) expressions of the Dynamo graph's inputs, or %NULL */
  AdjValue metadata;   /* DICT, or NONE */
} Region;

struct _Regions
{
  AdjBundleBuilder *builder;
  AdjDiags *diags;
  AdjArena *arena;
  GPtrArray *regions;
  GHashTable *ids; /* of graphs, to make them unique */
  guint n_graphs;
  gboolean names_files; /* remarks say which file they are about */
};

static void
region_free (Region *region)
{
  g_free (region->id);
  g_free (region->compile_id);
  g_ptr_array_unref (region->graph_ids);
  g_array_unref (region->symbols);
  g_hash_table_unref (region->sources);
  g_clear_pointer (&region->inputs, g_ptr_array_unref);
  adj_value_clear (&region->metadata);
  g_free (region);
}

Regions *
regions_new (void)
{
  Regions *regions = g_new0 (Regions, 1);

  regions->builder = adj_bundle_builder_new ();
  regions->diags = adj_diags_new ();
  regions->arena = adj_arena_new ();
  regions->regions = g_ptr_array_new_with_free_func ((GDestroyNotify) region_free);
  regions->ids = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
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
  g_hash_table_unref (regions->ids);
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

static gboolean
same_key (const RegionKey *a, const RegionKey *b)
{
  return a->rank == b->rank && a->process == b->process &&
         a->compiled_autograd == b->compiled_autograd && a->frame == b->frame &&
         a->compile == b->compile && a->attempt == b->attempt;
}

static Region *
find_region (Regions *regions, const RegionKey *key)
{
  Region *region;

  for (guint i = 0; i < regions->regions->len; i++)
    {
      region = regions->regions->pdata[i];
      if (same_key (&region->key, key))
        return region;
    }
  region = g_new0 (Region, 1);
  region->key = *key;
  region->graph_ids = g_ptr_array_new_with_free_func (g_free);
  region->symbols = g_array_new (FALSE, FALSE, sizeof (AdjSymbol));
  region->sources = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  name_region (region);
  g_ptr_array_add (regions->regions, region);
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
  AdjSymbol copy = *symbol;

  copy.name = adj_arena_intern (regions->arena, symbol->name);
  copy.source = symbol->source != NULL ? adj_arena_intern (regions->arena, symbol->source) : NULL;
  g_array_append_val (find_region (regions, key)->symbols, copy);
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
regions_warn (Regions *regions, const char *name, guint line, const char *what, const char *why)
{
  adj_diags_add (regions->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ line, 1, 0 }, "%s%s%s: %s",
                 regions->names_files ? name : "", regions->names_files ? ": " : "", what, why);
}

static char *
unique_id (Regions *regions, const Region *region, const char *role)
{
  char *id = g_strdup_printf ("%s-%s", region->id, role);

  for (guint k = 2; g_hash_table_contains (regions->ids, id); k++)
    {
      g_free (id);
      id = g_strdup_printf ("%s-%s-%u", region->id, role, k);
    }
  g_hash_table_add (regions->ids, g_strdup (id));
  return id;
}

static void
define_symbols (const Region *region, AdjGraph *graph)
{
  AdjSymbols *symbols = adj_graph_get_symbols (graph);

  for (guint i = 0; i < region->symbols->len; i++)
    {
      const AdjSymbol *symbol = &g_array_index (region->symbols, AdjSymbol, i);

      if (adj_symbols_find (symbols, symbol->name) != NULL)
        adj_symbols_define (symbols, symbol);
    }
}

/* -- sources -- */

/* As Dynamo names the placeholder of an input: "L['x']" → "L_x_". */
static char *
name_of_source (const char *source)
{
  GString *name = g_string_new (NULL);

  for (const char *p = source; *p != '\0'; p++)
    if (g_ascii_isalnum (*p))
      g_string_append_c (name, *p);
    else if (name->len == 0 || name->str[name->len - 1] != '_')
      g_string_append_c (name, '_');
  return g_string_free (name, FALSE);
}

void
regions_add_source (Regions *regions, const RegionKey *key, const char *source)
{
  Region *region = find_region (regions, key);

  if (g_hash_table_size (region->sources) < MAX_SOURCES)
    g_hash_table_replace (region->sources, name_of_source (source), g_strdup (source));
}

/* "L['self']._modules['fc1']._parameters['weight']" → "fc1.weight"; %NULL: no parameter. */
static char *
parameter_of_source (const char *source)
{
  g_autoptr (GString) path = g_string_new (NULL);
  g_auto (GStrv) parts = g_strsplit (source, "._", -1);
  guint n = g_strv_length (parts);

  if (n < 2 || !g_str_has_prefix (parts[n - 1], "parameters['"))
    return NULL;
  for (guint i = 1; i < n; i++)
    {
      const char *at = strstr (parts[i], "['");
      const char *end = at != NULL ? strstr (at, "']") : NULL;

      if (end == NULL || (i + 1 < n && !g_str_has_prefix (parts[i], "modules['")))
        return NULL;
      g_string_append_printf (path, "%s%.*s", i > 1 ? "." : "", (int) (end - at - 2), at + 2);
    }
  return g_string_free (g_steal_pointer (&path), FALSE);
}

static void
put_source (GHashTable *facts, const char *placeholder, const char *source)
{
  g_autoptr (GString) text = g_string_new ("{source: ");
  g_autofree char *parameter = parameter_of_source (source);

  adj_print_string (text, source);
  if (parameter != NULL)
    {
      g_string_append (text, ", param: ");
      adj_print_string (text, parameter);
    }
  g_string_append_c (text, '}');
  g_hash_table_replace (facts, g_strdup (placeholder), g_strdup (text->str));
}

/* What is known of placeholders before a graph of @role is read.  Dynamo's have names made of the
 * expression; AOTAutograd numbers them in the same order. */
static GHashTable *
facts_for (const Region *region, const char *role)
{
  GHashTable *facts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  gboolean is_inference = strcmp (role, "inference") == 0;
  GHashTableIter iter;
  gpointer name, source;

  g_hash_table_iter_init (&iter, region->sources);
  while (g_hash_table_iter_next (&iter, &name, &source))
    {
      g_autofree char *lower = g_ascii_strdown (name, -1);

      put_source (facts, name, source);
      put_source (facts, lower, source);
    }
  for (guint i = 0; region->inputs != NULL && i < region->inputs->len; i++)
    if (region->inputs->pdata[i] != NULL)
      {
        g_autofree char *numbered =
            is_inference ? g_strdup_printf ("arg%u_1", i) : g_strdup_printf ("primals_%u", i + 1);

        put_source (facts, numbered, region->inputs->pdata[i]);
      }
  return facts;
}

static void
keep_inputs (Region *region, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_inputs (graph);

  g_clear_pointer (&region->inputs, g_ptr_array_unref);
  region->inputs = g_ptr_array_new_with_free_func (g_free);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (
        region->inputs,
        g_strdup (adj_graph_get_node (graph, adj_graph_get_input (graph, i).index)->meta.source));
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
  g_autoptr (GHashTable) facts = facts_for (region, role);
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
  graph = adj_graph_parse_with (text, -1, facts, diags, &reason);
  pass_on (regions, diags, name, line, role);
  if (graph != NULL)
    {
      if (strcmp (role, "dynamo") == 0)
        keep_inputs (region, graph);
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

static gboolean
add_region (Regions *regions, const Region *region, GError **error)
{
  AdjRegion entry = {
    .id = region->id,
    .compile_id = region->compile_id,
    .rank = region->key.rank,
    .attempt = (gint) MAX (region->key.attempt, 0),
    .n_graphs = region->graph_ids->len,
    .num_fwd_outputs = -1,
  };

  if (region->metadata.kind == ADJ_VALUE_DICT)
    entry.metadata = &region->metadata;
  return region->graph_ids->len == 0 ||
         adj_bundle_builder_add_region (regions->builder, &entry,
                                        (const char *const *) region->graph_ids->pdata, error);
}

/* The first remark is the likeliest reason. */
static void
fail_without_graph (const Regions *regions, const char *path, GError **error)
{
  const AdjDiag *first =
      adj_diags_get_n (regions->diags) > 0 ? adj_diags_get (regions->diags, 0) : NULL;

  if (first == NULL)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: holds no graph", path);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s:%u:%u: holds no graph; %s", path,
                 first->span.line, MAX (first->span.column, 1), first->message);
}

AdjBundle *
regions_end (Regions *regions, const char *path, const char *description, GError **error)
{
  if (g_hash_table_size (regions->ids) == 0)
    {
      fail_without_graph (regions, path, error);
      return NULL;
    }
  for (guint i = 0; i < regions->regions->len; i++)
    if (!add_region (regions, regions->regions->pdata[i], error))
      return NULL;
  adj_bundle_builder_set_description (regions->builder, description);
  return adj_bundle_builder_end (g_steal_pointer (&regions->builder),
                                 g_steal_pointer (&regions->diags));
}
