/* SPDX-License-Identifier: MIT */
#include <glib.h>

#include "adjoint.h"

#define HEAD                                                                                       \
  "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4, 3][3, 1]cpu\"):\n"

static AdjGraph *
parse (const char *body)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = g_strconcat (HEAD, body, NULL);
  AdjGraph *graph = adj_graph_parse (text, -1, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

static void
check (const char *body, const char *table, const char *expected)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse (body);
  g_autoptr (GString) calls = g_string_new (NULL);
  AdjPassResult result;

  adj_pass_run (&adj_pass_decompose, table, graph, &result, &error);
  g_assert_no_error (error);
  for (guint i = 0; i < adj_graph_get_n_nodes (result.graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (result.graph, i);

      if (node->op != NULL)
        g_string_append_printf (calls, "%s ", adj_op_get_schema (node->op)->name);
    }
  g_assert_cmpstr (calls->str, ==, expected);
  adj_pass_result_clear (&result);
}

/* Sequences of operators as in what PyTorch 2.6 traces with the same tables. */
static void
test_inductor (void)
{
  check ("        softmax = torch.ops.aten._softmax.default(x, -1, False)\n"
         "        return (softmax,)\n",
         "inductor", "amax sub exp sum div ");
  check ("        gelu = torch.ops.aten.gelu.default(x)\n        return (gelu,)\n", "inductor",
         "mul mul erf add mul ");
}

static void
test_core (void)
{
  check ("        softmax = torch.ops.aten._softmax.default(x, -1, False)\n"
         "        detach = torch.ops.aten.detach.default(softmax)\n"
         "        return (detach,)\n",
         "core", "_softmax alias ");
}

/* New nodes know where they come from, by number and in words. */
static void
test_origins (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      parse ("        relu = torch.ops.aten.relu.default(x)\n"
             "        gelu = torch.ops.aten.gelu.default(relu)\n        return (gelu,)\n");
  AdjPassResult result;

  adj_pass_run (&adj_pass_decompose, "inductor", graph, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (result.n_notes, ==, 5);
  for (guint i = 0; i < 5; i++)
    g_assert_cmpuint (result.notes[i].before.index, ==, 2);
  g_assert_cmpuint (adj_graph_get_node (result.graph, 1)->origin.index, ==, 1);
  g_assert_cmpuint (adj_graph_get_node (result.graph, 6)->origin.index, ==, 2);
  g_assert_cmpstr (adj_graph_get_node (result.graph, 6)->meta.original_aten, ==,
                   "torch.ops.aten.gelu.default");
  adj_pass_result_clear (&result);
}

static void
test_unknown_table (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = parse ("        return (x,)\n");
  AdjPassResult result;

  g_assert_false (adj_pass_run (&adj_pass_decompose, "all", graph, &result, &error));
  g_assert_cmpstr (error->message, ==,
                   "pass 'decompose': there is no table of decompositions 'all' (there are core, "
                   "inductor)");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/decompose/inductor", test_inductor);
  g_test_add_func ("/passes/decompose/core", test_core);
  g_test_add_func ("/passes/decompose/origins", test_origins);
  g_test_add_func ("/passes/decompose/unknown-table", test_unknown_table);
  return g_test_run ();
}
