/* SPDX-License-Identifier: MIT */
/* Stream and event calls as PyTorch 2.15 writes them (data/make-streams.py): nodes run in order
 * anyway, and the calls keep their places. */

#include <math.h>
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define N_CALLS 10

static AdjGraph *
load (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "interpreter", "data", "streams-2.15.txt", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  AdjGraph *graph;

  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  return graph;
}

/* Names of the calls of streams, in their order. (transfer full) */
static char *
list_calls (const AdjGraph *graph)
{
  GString *list = g_string_new (NULL);

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      if (g_str_has_prefix (node->target, "torch.ops.streams."))
        g_string_append_printf (list, "%s\n", node->target);
    }
  return g_string_free (list, FALSE);
}

static void
test_reads (void)
{
  g_autoptr (AdjGraph) graph = load ();
  g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (AdjGraph) back = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  guint n = 0;

  g_assert_true (adj_graph_equal_structure (graph, back));
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      g_assert_true (node->opcode != ADJ_OPCODE_CALL_FUNCTION || node->op != NULL);
      n += g_str_has_prefix (node->target, "torch.ops.streams.");
    }
  g_assert_cmpuint (n, ==, N_CALLS);
}

/* sin (x @ w), by every executor of the CPU. */
static void
test_runs (void)
{
  static const char *const executors[] = { "interpreter", "planned" };
  g_autoptr (AdjGraph) graph = load ();
  g_autoptr (GError) error = NULL;
  guint n = 0;
  AdjValue *inputs = adj_session_random_inputs (graph, 5, &n, &error);

  g_assert_no_error (error);
  for (guint i = 0; i < G_N_ELEMENTS (executors); i++)
    {
      AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n };
      AdjRunResult result = { 0 };
      double sum = 0;

      g_assert_true (adj_executor_run (adj_executor_find (executors[i], NULL), &request, &result,
                                       NULL, &error));
      g_assert_no_error (error);
      for (guint k = 0; k < 4; k++)
        sum += adj_tensor_data_get_double (inputs[0].data, k) *
               adj_tensor_data_get_double (inputs[1].data, 4 * k);
      g_assert_cmpfloat_with_epsilon (adj_tensor_data_get_double (result.output.data, 0), sin (sum),
                                      1e-6);
      adj_run_result_clear (&result);
    }
  adj_session_free_inputs (inputs, n);
}

/* The results of the calls are unused, and the calls stay, in order. */
static void
test_traces (void)
{
  g_autoptr (AdjGraph) graph = load ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) traced = adj_retrace (graph, NULL, &error);
  g_autofree char *before = list_calls (graph), *after = NULL;

  g_assert_no_error (error);
  after = list_calls (traced);
  g_assert_cmpstr (after, ==, before);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/interpreter/streams/reads", test_reads);
  g_test_add_func ("/interpreter/streams/runs", test_runs);
  g_test_add_func ("/interpreter/streams/traces", test_traces);
  return g_test_run ();
}
