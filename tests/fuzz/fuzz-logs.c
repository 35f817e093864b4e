/* SPDX-License-Identifier: MIT */

/* Fuzzes pasted text: a console log of TORCH_LOGS, a trace, or any number of graphs. */

#include "formats/adj-format.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_graph (const AdjGraph *graph)
{
  g_autofree char *printed = adj_graph_print (graph, ADJ_PRINT_DEFAULT, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) back = adj_graph_parse (printed, -1, adj_op_find, NULL, &error);
  g_autofree char *again = NULL;

  g_assert_no_error (error);
  again = adj_graph_print (back, ADJ_PRINT_DEFAULT, NULL);
  g_assert_cmpstr (again, ==, printed);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle =
      adj_bundle_load_text ((const char *) data, (gssize) size, "fuzz", &error);

  g_assert_true ((bundle == NULL) == (error != NULL));
  for (guint i = 0; bundle != NULL && i < adj_bundle_get_n_graphs (bundle); i++)
    check_graph (adj_bundle_get_graph (bundle, i)->graph);
  return 0;
}
