/* SPDX-License-Identifier: MIT */
/* The trial pass returns an equal graph. */

#include "adjoint.h"
#include "support/graphs.h"

static void
copies_the_graph (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_test_load_graph ("mlp", "0-0-joint");
  const AdjPass *pass = adj_pass_find ("trial", &error);
  AdjPassResult result;

  g_assert_no_error (error);
  adj_pass_run (pass, NULL, graph, &result, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_nodes (result.graph), ==, adj_graph_get_n_nodes (graph));
  adj_pass_result_clear (&result);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/passes/trial/copies-the-graph", copies_the_graph);

  return g_test_run ();
}
