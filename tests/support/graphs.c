/* SPDX-License-Identifier: MIT */
/* Parses and loads graphs for tests. */

#include "support/graphs.h"

#include "ops/adj-op-table.h"
#include "support/adj-test.h"

AdjGraph *
adj_test_parse_graph (const char *text)
{
  g_autoptr (GError) error = NULL;
  AdjGraph *graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);

  g_assert_no_error (error);
  return graph;
}

AdjBundle *
adj_test_load_bundle (const char *path)
{
  g_autoptr (GError) error = NULL;
  AdjBundle *bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  return bundle;
}

AdjBundle *
adj_test_load_capture (const char *name)
{
  g_autofree char *file = g_strdup_printf ("graphs/%s.adjoint", name);
  g_autofree char *path = adj_test_data_path (file);

  return adj_test_load_bundle (path);
}

AdjGraph *
adj_test_load_graph (const char *name, const char *id)
{
  g_autoptr (AdjBundle) bundle = adj_test_load_capture (name);
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *graph = adj_bundle_find_graph (bundle, id, &error);

  g_assert_no_error (error);
  return adj_graph_ref (graph->graph);
}
