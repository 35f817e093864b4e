/* SPDX-License-Identifier: MIT */
/* Decisions of PyTorch 2.6 (data/make-expected.py) on joint graphs drawn at random, under tags,
 * budgets and switches, and on the captures: in compat mode ours are the same. */

#include <glib.h>
#include <string.h>

#include "partition-test.h"
#include "support/adj-test.h"

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

static const char *
get (GHashTable *keys, const char *key)
{
  const char *value = g_hash_table_lookup (keys, key);

  return value != NULL ? value : "";
}

static AdjPartitionOptions
read_options (GHashTable *keys)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;

  options.compat = TRUE;
  options.num_fwd_outputs = atoi (get (keys, "fwd"));
  options.budget = g_ascii_strtod (get (keys, "budget"), NULL);
  for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
    if (g_str_equal (get (keys, "flags"), flags[i].name))
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

/* Below a budget of 1 PyTorch repeats in backward what writes, so that a batch norm's running
 * statistics move twice; and it saves what they are written to.  We do neither. */
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
  g_autofree char *expected = without_writes (joint, get (keys, key), got);

  if (!g_str_equal (got, expected))
    g_test_message ("case %u, budget %s, flags %s, %s", number, get (keys, "budget"),
                    get (keys, "flags"), get (keys, "capture"));
  g_assert_cmpstr (got, ==, expected);
}

static void
check_case (guint number, AdjGraph *joint, GHashTable *keys)
{
  AdjPartitionOptions options = read_options (keys);
  const AdjPartitioner *partitioner = adj_partitioner_find (get (keys, "partitioner"), NULL);
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
  recomputed = partition_print_fate (partition, ADJ_FATE_RECOMPUTED);
  order = print_calls (partition->backward);
  if (!g_str_equal (get (keys, "cut"), "-1") && partition->cut_value >= 0)
    g_assert_cmpstr (cut, ==, get (keys, "cut"));
  check_names (number, "saved", saved, joint, keys);
  check_names (number, "recomputed", recomputed, joint, keys);
  check_names (number, "order", order, joint, keys);
}

static GHashTable *
read_keys (char **lines, guint *at)
{
  GHashTable *keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  for (; lines[*at] != NULL && g_str_has_prefix (lines[*at], "#@ "); (*at)++)
    {
      g_auto (GStrv) parts = g_strsplit (lines[*at] + 3, " ", 2);

      if (g_str_equal (parts[0], "capture") && g_hash_table_size (keys) > 0)
        break;
      g_hash_table_replace (keys, g_strdup (parts[0]), g_strdup (parts[1] ? parts[1] : ""));
    }
  return keys;
}

static void
test_random (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "random.txt.gz", NULL);
  g_autofree char *text = adj_test_read_packed (path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint number = 0;

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; number++)
    {
      g_autoptr (GString) module = g_string_new (NULL);
      g_autoptr (GHashTable) keys = NULL;
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjGraph) joint = NULL;

      for (; !g_str_has_prefix (lines[i], "#@ "); i++)
        g_string_append_printf (module, "%s\n", lines[i]);
      keys = read_keys (lines, &i);
      joint = adj_graph_parse (module->str, -1, NULL, &error);
      g_assert_no_error (error);
      check_case (number, joint, keys);
    }
  g_test_message ("%u joint graphs decided as PyTorch decides", number);
  g_assert_cmpuint (number, >=, 600);
}

static void
test_captures (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "captures.txt.gz", NULL);
  g_autofree char *text = adj_test_read_packed (path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint number = 0;

  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; number++)
    {
      g_autoptr (GHashTable) keys = read_keys (lines, &i);
      g_autoptr (AdjBundle) bundle = partition_load_capture (get (keys, "capture"));

      check_case (number, adj_bundle_find_graph (bundle, "joint", NULL)->graph, keys);
    }
  g_assert_cmpuint (number, ==, 45);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/pytorch/random-joint-graphs", test_random);
  g_test_add_func ("/partition/pytorch/captures-at-five-budgets", test_captures);
  return g_test_run ();
}
