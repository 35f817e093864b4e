/* SPDX-License-Identifier: MIT */
/* Graphs logged as str (graph), one node in each line. */

#include <glib.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define STAMP "V1120 10:34:57.280000 27000 torch/fx/x.py:404] "
#define LINE(text) STAMP "[0/0] " text "\n"
#define RECORD(json, lines) STAMP json "\n" lines

#define FIRST                                                                                      \
  "    %x : [num_users=1] = placeholder[target=x]",                                                \
      "    %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})",   \
      "    return relu"

static AdjBundle *
load (const char *name, const char *text)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, name, NULL);
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  return bundle;
}

/* Returns "graph():" and its lines, each prefixed with @before. */
static char *
list_nodes (const char *before)
{
  static const char *const lines[] = { "graph():", FIRST };
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++)
    g_string_append_printf (text, "%s%s\n", before, lines[i]);
  return g_string_free (text, FALSE);
}

static void
check_relu (const AdjBundle *bundle, guint index, const char *id)
{
  const AdjBundleGraph *graph = adj_bundle_get_graph (bundle, index);

  g_assert_cmpstr (graph->id, ==, id);
  g_assert_cmpuint (adj_graph_get_n_nodes (graph->graph), ==, 3);
  g_assert_cmpstr (adj_graph_get_node (graph->graph, 1)->target, ==, "torch.relu");
}

static void
test_trace (void)
{
  g_autofree char *nodes = list_nodes ("\t");
  g_autofree char *text = g_strconcat (
      RECORD ("{\"artifact\": {\"name\": \"before_my_pass\", \"encoding\": \"string\"}, "
              "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"\"}",
              "\tGraph before my pass:\n"),
      nodes, NULL);
  g_autoptr (AdjBundle) bundle = load ("dedicated_log_torch_trace_1.log", text);

  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  check_relu (bundle, 0, "0-0-before_my_pass");
}

static void
test_several_in_a_record (void)
{
  g_autofree char *nodes = list_nodes ("\t");
  g_autofree char *text = g_strconcat (
      RECORD ("{\"artifact\": {\"name\": \"pair\", \"encoding\": \"string\"}, \"frame_id\": 0, "
              "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"\"}",
              ""),
      nodes, nodes, NULL);
  g_autoptr (AdjBundle) bundle = load ("dedicated_log_torch_trace_2.log", text);

  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 2);
  check_relu (bundle, 0, "0-0-pair");
  check_relu (bundle, 1, "0-0-pair-2");
}

/* A payload whose text merely begins like a list of nodes is not a graph. */
static void
test_words (void)
{
  g_autofree char *nodes = list_nodes ("\t");
  g_autofree char *text = g_strconcat (
      RECORD ("{\"artifact\": {\"name\": \"hint\", \"encoding\": \"string\"}, \"frame_id\": 0, "
              "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"\"}",
              "\tgraph():\n\t    has no node\n"),
      RECORD ("{\"artifact\": {\"name\": \"graph\", \"encoding\": \"string\"}, \"frame_id\": 0, "
              "\"frame_compile_id\": 0, \"attempt\": 0, \"has_payload\": \"\"}",
              ""),
      nodes, NULL);
  g_autoptr (AdjBundle) bundle = load ("dedicated_log_torch_trace_3.log", text);

  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  g_assert_cmpuint (adj_bundle_get_n_facts (bundle), ==, 1);
  g_assert_cmpstr (adj_bundle_get_fact (bundle, 0)->name, ==, "hint");
}

/* Two consecutive messages without a heading; messages of DDP have one. */
static void
test_console (void)
{
  g_autofree char *nodes = list_nodes (STAMP "[0/0] ");
  g_autofree char *text =
      g_strconcat (LINE ("a pass runs"), nodes, nodes, LINE ("---submod_0 graph---"), nodes, NULL);
  g_autoptr (AdjBundle) bundle = load ("console.txt", text);

  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 3);
  check_relu (bundle, 0, "0-0-user");
  check_relu (bundle, 1, "0-0-user-2");
  check_relu (bundle, 2, "0-0-ddp_split");
}

static void
test_own_output (void)
{
  g_autofree char *nodes = list_nodes ("");
  g_autofree char *text = g_strconcat (LINE ("TRACED GRAPH"), nodes, "loss 1.5\n", nodes, NULL);
  g_autoptr (AdjBundle) bundle = load ("console.txt", text);

  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 2);
  g_assert_cmpuint (adj_graph_get_n_nodes (adj_bundle_get_graph (bundle, 1)->graph), ==, 3);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/node-lists/trace", test_trace);
  g_test_add_func ("/formats/node-lists/several-in-a-record", test_several_in_a_record);
  g_test_add_func ("/formats/node-lists/words", test_words);
  g_test_add_func ("/formats/node-lists/console", test_console);
  g_test_add_func ("/formats/node-lists/own-output", test_own_output);
  return g_test_run ();
}
