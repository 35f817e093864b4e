/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "formats/regions-private.h"
#include "ir/adj-text.h"

#define MAX_GRAPHS 10000

typedef struct
{
  char *id;         /* "0-0", "r1-ca2" */
  char *compile_id; /* "0/0", "!2" */
  RegionKey key;
  GPtrArray *graph_ids;
  GArray *symbols; /* of AdjSymbol; texts interned in the arena */
} Region;

struct _Regions
{
  AdjBundleBuilder *builder;
  AdjDiags *diags;
  AdjArena *arena;
  GPtrArray *regions;
  GHashTable *ids; /* of graphs, to make them unique */
  guint n_graphs;
};

static void
region_free (Region *region)
{
  g_free (region->id);
  g_free (region->compile_id);
  g_ptr_array_unref (region->graph_ids);
  g_array_unref (region->symbols);
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
  return a->rank == b->rank && a->compiled_autograd == b->compiled_autograd &&
         a->frame == b->frame && a->compile == b->compile && a->attempt == b->attempt;
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
  name_region (region);
  g_ptr_array_add (regions->regions, region);
  return region;
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
regions_warn (Regions *regions, const char *name, guint line, const char *what, const char *why)
{
  adj_diags_add (regions->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ line, 1, 0 }, "%s: %s: %s", name,
                 what, why);
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
  graph = adj_graph_parse (text, -1, NULL, &reason);
  if (graph != NULL)
    {
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

  return region->graph_ids->len == 0 ||
         adj_bundle_builder_add_region (regions->builder, &entry,
                                        (const char *const *) region->graph_ids->pdata, error);
}

AdjBundle *
regions_end (Regions *regions, const char *path, const char *description, GError **error)
{
  if (g_hash_table_size (regions->ids) == 0)
    {
      if (!adj_diags_to_error (regions->diags, path, error))
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: holds no graph", path);
      return NULL;
    }
  for (guint i = 0; i < regions->regions->len; i++)
    if (!add_region (regions, regions->regions->pdata[i], error))
      return NULL;
  adj_bundle_builder_set_description (regions->builder, description);
  return adj_bundle_builder_end (g_steal_pointer (&regions->builder),
                                 g_steal_pointer (&regions->diags));
}
