/* SPDX-License-Identifier: MIT */
/* The pass dce. */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "passes/adj-pass-internal.h"
#include "support/graphs.h"

#define HEAD "class GraphModule(torch.nn.Module):\n    def forward(self, x: \"f32[4][1]cpu\"):\n"

static void
test_drops (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_graph_parse (HEAD "        sin = torch.ops.aten.sin.default(x)\n"
                            "        cos = torch.ops.aten.cos.default(x)\n"
                            "        exp = torch.ops.aten.exp.default(cos)\n"
                            "        mul = torch.ops.aten.mul.Tensor(sin, sin)\n"
                            "        return (mul,)\n",
                       -1, adj_op_find, NULL, &error);
  AdjPassResult result;

  g_assert_no_error (error);
  adj_pass_run (&adj_pass_dce, NULL, graph, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_calls (result.graph), ==, 2);
  g_assert_false (adj_node_id_is_valid (adj_graph_find_node (result.graph, "cos")));
  g_assert_cmpuint (
      adj_graph_get_node (result.graph, adj_graph_find_node (result.graph, "mul").index)
          ->origin.index,
      ==, 4);
  g_assert_cmpuint (result.n_notes, ==, 2);
  g_assert_cmpuint (result.notes[0].before.index, ==, 2);
  adj_pass_result_clear (&result);
}

/* An unknown call may have an effect, and a write has one: both are kept. */
static void
test_keeps_effects (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph =
      adj_graph_parse (HEAD "        foo = torch.ops.mine.foo.default(x)\n"
                            "        copy_ = torch.ops.aten.copy_.default(x, x)\n"
                            "        return ()\n",
                       -1, adj_op_find, NULL, &error);
  AdjPassResult result;

  g_assert_no_error (error);
  adj_pass_run (&adj_pass_dce, NULL, graph, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_calls (result.graph), ==, 2);
  adj_pass_result_clear (&result);
}

static void
test_refuses_argument (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (HEAD "        return ()\n");
  AdjPassResult result;

  g_assert_false (adj_pass_run (&adj_pass_dce, "fast", graph, &result, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED);
  g_assert_cmpstr (error->message, ==, "pass 'dce': takes no argument, not 'fast'");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/passes/dce/drops-what-nobody-reads", test_drops);
  g_test_add_func ("/passes/dce/keeps-effects", test_keeps_effects);
  g_test_add_func ("/passes/refuses-argument", test_refuses_argument);
  return g_test_run ();
}
