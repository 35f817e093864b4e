/* SPDX-License-Identifier: MIT */

/* Logs of one small training step by several releases of PyTorch. */

#include <string.h>

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "support/adj-test.h"

/* What the program compiles: a step, an evaluation, a step under compiled autograd. */
static const char *const roles[] = { "dynamo", "joint",     "forward",           "backward",
                                     "dynamo", "inference", "compiled_autograd", "dynamo" };

static const struct
{
  const char *name;
  guint n_graphs;
} rows[] = {
  { "console-2.1.txt", 6 }, { "console-2.4.txt", 8 }, { "console-2.15.txt", 8 },
  { "trace-2.4.log", 8 },   { "trace-2.15.log", 8 },
};

static guint
count (const char *text, const char *word)
{
  guint n = 0;

  for (const char *at = strstr (text, word); at != NULL; at = strstr (at + 1, word))
    n++;
  return n;
}

static guint
count_raw (const AdjGraph *graph)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_RAW;
  return n;
}

static void
test_release (gconstpointer data)
{
  guint row = GPOINTER_TO_UINT (data);
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "formats", "data", rows[row].name, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  guint n_found = count (text, "(torch.nn.Module):");

  g_assert_no_error (error);
  g_test_message ("parsed %u of %u", adj_bundle_get_n_graphs (bundle), n_found);
  g_assert_cmpuint (n_found, ==, rows[row].n_graphs);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, n_found);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
  for (guint i = 0; i < n_found; i++)
    {
      const AdjBundleGraph *entry = adj_bundle_get_graph (bundle, i);

      g_assert_cmpstr (entry->role, ==, roles[i]);
      g_assert_cmpuint (count_raw (entry->graph), ==, 0);
    }
  /* The model returns one tensor. */
  g_assert_cmpstr (adj_bundle_get_region (bundle, 0)->compile_id, ==, "0/0");
  g_assert_cmpint (adj_bundle_get_region (bundle, 0)->num_fwd_outputs, ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *path = g_strconcat ("/formats/torch-releases/", rows[i].name, NULL);

      g_test_add_data_func (path, GUINT_TO_POINTER (i), test_release);
    }
  return g_test_run ();
}
