/* SPDX-License-Identifier: MIT */
/* Compares our partition decisions with those PyTorch recorded. */

#include "decisions.h"

#include <string.h>

#include "ir/adj-graph.h"

static const struct
{
  const char *name;
  gsize offset;
} flags[] = {
  { "no-far", G_STRUCT_OFFSET (AdjPartitionOptions, no_far) },
  { "no-long", G_STRUCT_OFFSET (AdjPartitionOptions, no_long) },
  { "no-materialized", G_STRUCT_OFFSET (AdjPartitionOptions, no_materialized) },
  { "no-allowlist", G_STRUCT_OFFSET (AdjPartitionOptions, no_allowlist) },
  { "no-reduction", G_STRUCT_OFFSET (AdjPartitionOptions, no_reduction) },
  { "views", G_STRUCT_OFFSET (AdjPartitionOptions, recompute_views) },
  { "aggressive", G_STRUCT_OFFSET (AdjPartitionOptions, aggressive) },
  { "no-cse", G_STRUCT_OFFSET (AdjPartitionOptions, no_cse) },
};

const char *
decisions_get (GHashTable *keys, const char *key)
{
  const char *value = g_hash_table_lookup (keys, key);

  return value != NULL ? value : "";
}

static AdjPartitionOptions
read_options (GHashTable *keys)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.compat = TRUE;
  options.num_fwd_outputs = atoi (decisions_get (keys, "fwd"));
  options.budget = g_ascii_strtod (decisions_get (keys, "budget"), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (g_str_equal (decisions_get (keys, "flags"), flags[i].name))
      G_STRUCT_MEMBER (gboolean, &options, flags[i].offset) = TRUE;
  return options;
}

static char *
print_calls (const AdjGraph *graph)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_CALL_FUNCTION &&
        strstr (adj_graph_get_node (graph, i)->name, "_rng_state") == NULL)
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "",
                              adj_graph_get_node (graph, i)->name);
  return g_string_free (text, FALSE);
}

/* Below a budget of 1 PyTorch repeats writes in backward, which updates a batch norm's running
 * statistics twice, and saves the written values.  Adjoint does neither. */
static gboolean
serves_writes (const AdjGraph *joint, const AdjNode *node)
{
  if (g_str_equal (node->target, "torch.ops.aten.copy_.default"))
    return TRUE;
  for (guint i = 0; i < node->n_users; i++)
    if (!serves_writes (joint, adj_graph_get_node (joint, node->users[i].index)))
      return FALSE;
  return node->n_users > 0;
}

static const AdjNode *
find (const AdjGraph *joint, const char *name)
{
  return adj_graph_get_node (joint, adj_graph_find_node (joint, name).index);
}

static char *
without_writes (const AdjGraph *joint, const char *names, const char *kept)
{
  g_auto (GStrv) parts = g_strsplit (names, " ", -1);
  g_auto (GStrv) ours = g_strsplit (kept, " ", -1);
  GString *text = g_string_new (NULL);

  for (guint i = 0; parts[i] != NULL; i++)
    if (*parts[i] != '\0' && (g_strv_contains ((const char *const *) ours, parts[i]) ||
                              !serves_writes (joint, find (joint, parts[i]))))
      g_string_append_printf (text, "%s%s", text->len > 0 ? " " : "", parts[i]);
  return g_string_free (text, FALSE);
}

static void
check_names (guint number, const char *key, const char *got, AdjGraph *joint, GHashTable *keys)
{
  g_autofree char *expected = without_writes (joint, decisions_get (keys, key), got);

  if (!g_str_equal (got, expected))
    g_test_message ("case %u, budget %s, flags %s, %s", number, decisions_get (keys, "budget"),
                    decisions_get (keys, "flags"), decisions_get (keys, "capture"));
  g_assert_cmpstr (got, ==, expected);
}

void
decisions_check (guint number, AdjGraph *joint, GHashTable *keys)
{
  AdjPartitionOptions options = read_options (keys);
  const AdjPartitioner *partitioner =
      adj_partitioner_find (decisions_get (keys, "partitioner"), NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjPartition) partition = adj_partition (partitioner, joint, &options, &error);
  g_autofree char *cut = NULL;
  g_autofree char *saved = NULL;
  g_autofree char *recomputed = NULL;
  g_autofree char *order = NULL;

  if (g_hash_table_contains (keys, "infeasible"))
    {
      if (error == NULL)
        g_test_message ("case %u: PyTorch finds no cut", number);
      g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
      return;
    }
  if (error != NULL)
    g_test_message ("case %u", number);
  g_assert_no_error (error);
  cut = g_strdup_printf ("%" G_GINT64_FORMAT, partition->cut_value);
  saved = partition_print_saved (partition);
  recomputed = partition_print_decided (partition, ADJ_DECISION_RECOMPUTED);
  order = print_calls (partition->backward);
  if (!g_str_equal (decisions_get (keys, "cut"), "-1") && partition->cut_value >= 0)
    g_assert_cmpstr (cut, ==, decisions_get (keys, "cut"));
  check_names (number, "saved", saved, joint, keys);
  check_names (number, "recomputed", recomputed, joint, keys);
  check_names (number, "order", order, joint, keys);
}

GHashTable *
decisions_read (char **lines, guint *at)
{
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (; lines[*at] != NULL && g_str_has_prefix (lines[*at], "#@ "); (*at)++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[*at] + 3, " ", 2);

      if ((g_str_equal (parts[0], "capture") || g_str_equal (parts[0], "name")) &&
          g_hash_table_size (keys) > 0)
        break;
      g_hash_table_replace (keys, g_strdup (parts[0]), g_strdup (parts[1] ? parts[1] : ""));
    }
  return keys;
}
