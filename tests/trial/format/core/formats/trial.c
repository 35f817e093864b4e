/* SPDX-License-Identifier: MIT */
/* trial: writes the node names of one graph, a line each. */

#include "formats/adj-format.h"
#include "ir/adj-graph.h"

static gboolean
save (AdjBundle *bundle,
      const char *path,
      const AdjSaveOptions *options,
      GCancellable *cancellable,
      GError **error)
{
  const AdjBundleGraph *graph = options != NULL && options->graph != NULL
                                    ? options->graph
                                    : adj_bundle_find_graph (bundle, NULL, error);
  g_autoptr (GString) text = g_string_new (NULL);

  if (graph == NULL)
    return FALSE;
  for (guint i = 0; i < adj_graph_get_n_nodes (graph->graph); i++)
    g_string_append_printf (text, "%s\n", adj_graph_get_node (graph->graph, i)->name);
  return g_file_set_contents (path, text->str, (gssize) text->len, error);
}

const AdjFormat adj_format_trial = {
  .name = "trial",
  .summary = "the names of the nodes of one graph",
  .extensions = ".trial",
  .save = save,
};
