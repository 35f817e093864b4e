/* SPDX-License-Identifier: MIT */
/* Fuzzes scripts that repeat a compilation: where the class can be read alone, its graph has the
 * same nodes when what the script says of its inputs is written into its header. */

#include "formats/adj-format.h"
#include "formats/runnable-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check_annotated (const char *script, const char *annotated)
{
  const char *loader = strstr (script, "\ndef load_args(reader):");
  g_autoptr (AdjGraph) alone = adj_graph_parse (script, loader - script, adj_op_find, NULL, NULL);
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (GError) error = NULL;

  if (alone == NULL)
    return;
  graph = adj_graph_parse (annotated, -1, adj_op_find, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_graph_get_n_nodes (graph), ==, adj_graph_get_n_nodes (alone));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *script = g_strndup ((const char *) data, size);
  g_autofree char *annotated = runnable_annotate (script, strlen (script));
  g_autoptr (AdjBundle) bundle = adj_bundle_load_text (script, -1, "fuzz", NULL);

  if (annotated != NULL && g_utf8_validate (script, -1, NULL))
    check_annotated (script, annotated);
  return 0;
}
