/* SPDX-License-Identifier: MIT */
/* Activations offloaded to CPU memory, as PyTorch 2.15 does it (data/make-offload.py): by
 * prims.device_put, and by ao.* asynchronously to the computation. */

#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"

/* Forward and backward graphs: without offloading, with copies, with asynchronous copies. */
enum
{
  N_WAYS = 3,
  N_PARTS = 2
};

static GArray *
load (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "interpreter", "data", "offload-2.15.txt", NULL);
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;
  GArray *graphs;

  g_assert_true (g_file_get_contents (path, &text, NULL, &error));
  graphs = adj_graph_parse_all (text, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (graphs->len, ==, N_WAYS * N_PARTS);
  return graphs;
}

static AdjGraph *
get (GArray *graphs, guint way, guint part)
{
  return g_array_index (graphs, AdjParsedGraph, way * N_PARTS + part).graph;
}

static guint
count (const AdjGraph *graph, const char *target)
{
  guint n = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    n += g_str_equal (adj_graph_get_node (graph, i)->target, target);
  return n;
}

static void
test_reads (void)
{
  g_autoptr (GArray) graphs = load ();

  for (guint i = 0; i < graphs->len; i++)
    {
      const AdjGraph *graph = g_array_index (graphs, AdjParsedGraph, i).graph;
      g_autofree char *text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
      g_autoptr (AdjGraph) back = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
      g_autofree char *again = adj_graph_print (back, ADJ_PRINT_DEFAULT, NULL);

      g_assert_cmpstr (again, ==, text);
      for (guint k = 0; k < adj_graph_get_n_nodes (graph); k++)
        g_assert_true (adj_graph_get_node (graph, k)->opcode != ADJ_OPCODE_CALL_FUNCTION ||
                       adj_graph_get_node (graph, k)->op != NULL);
    }
  for (guint part = 0; part < N_PARTS; part++)
    {
      g_assert_cmpuint (count (get (graphs, 1, part), "torch.ops.prims.device_put.default"), ==, 1);
      g_assert_cmpuint (count (get (graphs, 2, part), "torch.ops.ao.wait_tensor.default"), ==, 1);
    }
  g_assert_cmpuint (count (get (graphs, 2, 0), "torch.ops.ao.offload.default"), ==, 1);
  g_assert_cmpuint (count (get (graphs, 2, 1), "torch.ops.ao.reload.default"), ==, 1);
}

static void
run (AdjGraph *graph, const char *executor, AdjRunResult *result)
{
  g_autoptr (GError) error = NULL;
  guint n = 0;
  AdjValue *inputs = adj_session_random_inputs (graph, 5, &n, &error);
  AdjRunRequest request = { .graph = graph, .inputs = inputs, .n_inputs = n };

  g_assert_no_error (error);
  g_assert_true (
      adj_executor_run (adj_executor_find (executor, NULL), &request, result, NULL, &error));
  g_assert_no_error (error);
  adj_session_free_inputs (inputs, n);
}

/* Compares bits: an offloaded value comes back unchanged. */
static void
assert_same (const AdjValue *a, const AdjValue *b)
{
  g_assert_cmpuint (a->n, ==, b->n);
  for (guint i = 0; i < a->n; i++)
    {
      GBytes *x = adj_tensor_data_get_bytes (a->items[i].data);
      GBytes *y = adj_tensor_data_get_bytes (b->items[i].data);

      g_assert_true (g_bytes_equal (x, y));
    }
}

static void
test_runs (void)
{
  static const char *const executors[] = { "interpreter", "planned" };
  g_autoptr (GArray) graphs = load ();

  for (guint part = 0; part < N_PARTS; part++)
    for (guint way = 1; way < N_WAYS; way++)
      for (guint i = 0; i < G_N_ELEMENTS (executors); i++)
        {
          AdjRunResult plain = { 0 }, offloaded = { 0 };

          run (get (graphs, 0, part), executors[i], &plain);
          run (get (graphs, way, part), executors[i], &offloaded);
          assert_same (&offloaded.output, &plain.output);
          adj_run_result_clear (&plain);
          adj_run_result_clear (&offloaded);
        }
}

/* A call that a pass wrote with `non_blocking = True` has positional arguments in a trace. */
static void
test_traces (void)
{
  g_autoptr (GArray) graphs = load ();

  for (guint i = 0; i < graphs->len; i++)
    {
      AdjGraph *graph = g_array_index (graphs, AdjParsedGraph, i).graph;
      g_autoptr (GError) error = NULL;
      g_autoptr (AdjGraph) traced = adj_retrace (graph, NULL, &error);
      g_autoptr (AdjGraph) again = NULL;

      g_assert_no_error (error);
      for (guint k = 0; k < adj_graph_get_n_nodes (graph); k++)
        {
          const char *target = adj_graph_get_node (graph, k)->target;

          if (adj_graph_get_node (graph, k)->opcode == ADJ_OPCODE_CALL_FUNCTION)
            g_assert_cmpuint (count (traced, target), ==, count (graph, target));
        }
      again = adj_retrace (traced, NULL, &error);
      g_assert_no_error (error);
      g_assert_true (adj_graph_equal_structure (traced, again));
    }
}

/* Between devices the result of the copy is dense, and a second copy restores the strides. */
static void
test_devices (void)
{
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x_1: \"bf16[4, 2][1, 4]cuda:0\"):\n"
      "        # No stacktrace found for following nodes\n"
      "        offload: \"bf16[4, 2][2, 1]cpu\" = torch.ops.ao.offload.default(x_1)\n"
      "        wait_tensor: \"bf16[4, 2][2, 1]cpu\" = torch.ops.ao.wait_tensor.default(offload, "
      "x_1);  offload = x_1 = None\n"
      "        reload: \"bf16[4, 2][1, 4]cuda:0\" = torch.ops.ao.reload.default(wait_tensor, "
      "device(type='cuda', index=0), [4, 2], [1, 4])\n"
      "        wait_tensor_1: \"bf16[4, 2][1, 4]cuda:0\" = "
      "torch.ops.ao.wait_tensor.default(reload, "
      "wait_tensor);  reload = wait_tensor = None\n"
      "        return wait_tensor_1\n"
      "        \n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autoptr (AdjGraph) traced = NULL;

  g_assert_no_error (error);
  traced = adj_retrace (graph, NULL, &error);
  g_assert_no_error (error);
  for (guint i = 1; i < adj_graph_get_n_nodes (graph) - 1; i++)
    {
      const AdjValue *wanted = &adj_graph_get_node (graph, i)->val;
      const AdjValue *got = &adj_graph_get_node (traced, i)->val;
      g_autoptr (GString) a = g_string_new (NULL), b = g_string_new (NULL);

      adj_tensor_meta_print (wanted->meta, NULL, a);
      adj_tensor_meta_print (got->meta, NULL, b);
      g_assert_cmpstr (b->str, ==, a->str);
    }
}

static void
test_refuses (void)
{
  static const char text[] =
      "class GraphModule(torch.nn.Module):\n"
      "    def forward(self, x_1: \"f32[4, 2][2, 1]cpu\"):\n"
      "        reload = torch.ops.ao.reload.default(x_1, device(type='cpu'), [3, 2], [2, 1])\n"
      "        return reload\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  g_autoptr (AdjGraph) traced = adj_retrace (graph, NULL, &error);

  g_assert_null (traced);
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_SHAPE);
  g_assert_nonnull (strstr (error->message, "[4, 2] does not broadcast to [3, 2]"));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/interpreter/offload/reads", test_reads);
  g_test_add_func ("/interpreter/offload/runs", test_runs);
  g_test_add_func ("/interpreter/offload/traces", test_traces);
  g_test_add_func ("/interpreter/offload/devices", test_devices);
  g_test_add_func ("/interpreter/offload/refuses", test_refuses);
  return g_test_run ();
}
