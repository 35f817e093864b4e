/* SPDX-License-Identifier: MIT */
/* Facts of a file beside its graphs, listed by name and printed. */

#include "file-facts.h"

#include <stdio.h>
#include <string.h>

#include "base/adj-format-bytes.h"
#include "json-members.h"

typedef struct
{
  const char *name;
  guint n;
  guint64 bytes;
} Count;

/* (element-type Count): in order of their first occurrence in the file */
static GArray *
count_names (const AdjBundle *bundle)
{
  GArray *counts = g_array_new (FALSE, FALSE, sizeof (Count));
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < adj_bundle_get_n_facts (bundle); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (bundle, i);
      guint place = GPOINTER_TO_UINT (g_hash_table_lookup (places, fact->name));
      Count *count;

      if (place == 0)
        {
          Count first = { .name = fact->name };

          g_array_append_val (counts, first);
          place = counts->len;
          g_hash_table_insert (places, (gpointer) fact->name, GUINT_TO_POINTER (place));
        }
      count = &g_array_index (counts, Count, place - 1);
      count->n++;
      count->bytes += g_bytes_get_size (fact->text);
    }
  return counts;
}

void
adj_facts_print_list (const AdjBundle *bundle)
{
  g_autoptr (GArray) counts = count_names (bundle);

  if (counts->len > 0)
    printf ("\n%-44s %6s %10s\n", "BESIDE THE GRAPHS", "TIMES", "SIZE");
  for (guint i = 0; i < counts->len; i++)
    {
      const Count *count = &g_array_index (counts, Count, i);
      g_autofree char *size = adj_format_bytes (count->bytes);

      printf ("%-44s %6u %10s\n", count->name, count->n, size);
    }
}

void
adj_facts_add_list (JsonBuilder *builder, const AdjBundle *bundle)
{
  g_autoptr (GArray) counts = count_names (bundle);

  json_builder_set_member_name (builder, "facts");
  json_builder_begin_array (builder);
  for (guint i = 0; i < counts->len; i++)
    {
      const Count *count = &g_array_index (counts, Count, i);

      json_builder_begin_object (builder);
      adj_json_add_string (builder, "name", count->name);
      adj_json_add_int (builder, "times", count->n);
      adj_json_add_int (builder, "bytes", (gint64) count->bytes);
      json_builder_end_object (builder);
    }
  json_builder_end_array (builder);
}

static void
fail (const AdjBundle *bundle, const char *name, GError **error)
{
  g_autoptr (GArray) counts = count_names (bundle);
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < counts->len; i++)
    g_string_append_printf (names, "%s%s", i > 0 ? ", " : "",
                            g_array_index (counts, Count, i).name);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
               "--fact %s: the file says nothing of that name; there is %s", name,
               counts->len > 0 ? names->str : "nothing beside its graphs");
}

static void
print_fact (const AdjBundleFact *fact)
{
  gsize length;
  const char *text = g_bytes_get_data (fact->text, &length);

  printf ("# %s", fact->region != NULL ? fact->region->id : "no graph");
  if (fact->file != NULL)
    printf (", %s", fact->file);
  if (fact->line > 0)
    printf (", line %u", fact->line);
  putchar ('\n');
  fwrite (text, 1, length, stdout);
  if (length == 0 || text[length - 1] != '\n')
    putchar ('\n');
}

AdjExit
adj_facts_print (const AdjBundle *bundle, const AdjRegion *region, const char *name, GError **error)
{
  guint n = 0;

  for (guint i = 0; i < adj_bundle_get_n_facts (bundle); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (bundle, i);

      if (strcmp (fact->name, name) != 0 || (region != NULL && fact->region != region))
        continue;
      if (n++ > 0)
        putchar ('\n');
      print_fact (fact);
    }
  if (n > 0)
    return ADJ_EXIT_DONE;
  fail (bundle, name, error);
  return ADJ_EXIT_BAD_INPUT;
}
