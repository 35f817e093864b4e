/* SPDX-License-Identifier: MIT */
/* What a file says beside its graphs. */

#include "formats/adj-bundle-private.h"

#define MAX_FACT_BYTES ((gsize) 64 << 20)
#define MAX_FACTS 100000

void
bundle_fact_clear (gpointer data)
{
  BundleFact *fact = data;

  g_bytes_unref (fact->fact.text);
}

guint
adj_bundle_get_n_facts (const AdjBundle *bundle)
{
  return bundle->facts->len;
}

const AdjBundleFact *
adj_bundle_get_fact (const AdjBundle *bundle, guint index)
{
  g_return_val_if_fail (index < bundle->facts->len, NULL);

  return &g_array_index (bundle->facts, BundleFact, index).fact;
}

gboolean
adj_bundle_builder_add_fact (AdjBundleBuilder *builder,
                             const AdjBundleFact *fact,
                             const char *region)
{
  AdjBundle *bundle = bundle_builder_get (builder);
  gsize length = g_bytes_get_size (fact->text);
  BundleFact copy = { .fact = *fact };

  g_return_val_if_fail (fact->name != NULL, FALSE);

  if (bundle->facts->len >= MAX_FACTS || length > MAX_FACT_BYTES - bundle->fact_bytes)
    return FALSE;
  bundle->fact_bytes += length;
  copy.fact.name = adj_arena_intern (bundle->arena, fact->name);
  copy.fact.file = fact->file != NULL ? adj_arena_intern (bundle->arena, fact->file) : NULL;
  copy.fact.text = g_bytes_ref (fact->text);
  copy.fact.region = NULL;
  copy.region = region != NULL ? adj_arena_intern (bundle->arena, region) : NULL;
  g_array_append_val (bundle->facts, copy);
  return TRUE;
}

void
bundle_place_facts (AdjBundle *bundle)
{
  g_autoptr (GHashTable) by_id = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < bundle->regions->len; i++)
    {
      AdjRegion *region = bundle->regions->pdata[i];

      g_hash_table_insert (by_id, (gpointer) region->id, region);
    }
  for (guint i = 0; i < bundle->facts->len; i++)
    {
      BundleFact *fact = &g_array_index (bundle->facts, BundleFact, i);

      fact->fact.region = fact->region != NULL ? g_hash_table_lookup (by_id, fact->region) : NULL;
    }
}
