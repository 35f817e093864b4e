/* SPDX-License-Identifier: MIT */
/* Fuzzes the text form of graphs. */

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A graph that was read prints as text that reads back to the same text. */
int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (AdjDiags) diags = adj_diags_new ();
  g_autoptr (AdjGraph) graph =
      adj_graph_parse ((const char *) data, (gssize) size, adj_op_find, diags, NULL);
  g_autoptr (AdjGraph) back = NULL;
  g_autofree char *text = NULL;
  g_autofree char *again = NULL;

  if (!graph)
    return 0;

  text = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  back = adj_graph_parse (text, -1, adj_op_find, NULL, NULL);
  g_assert_nonnull (back);
  again = adj_graph_print (back, ADJ_PRINT_DEFAULT, NULL);
  g_assert_cmpstr (again, ==, text);

  return 0;
}
