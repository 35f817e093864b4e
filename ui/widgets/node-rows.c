/* SPDX-License-Identifier: MIT */
/* Synchronises a list of nodes with the selection of a document. */

#include "widgets/node-rows.h"

#include "ir/adj-graph.h"

/* "0-0-joint gelu mul_1": neither ids nor names hold spaces. */
static char *
print_target (const AdjBundleGraph *graph, const GArray *nodes)
{
  GString *text = g_string_new (graph->id);

  for (guint i = 0; i < nodes->len; i++)
    g_string_append_printf (
        text, " %s", adj_graph_get_node (graph->graph, g_array_index (nodes, guint32, i))->name);
  return g_string_free (text, FALSE);
}

AdjMenu
adj_node_rows_take (AdjDocument *document, guint graph, const GArray *nodes, char **target)
{
  const AdjBundleGraph *of;

  if (graph == G_MAXUINT || nodes->len == 0)
    return 0;
  of = adj_graph_set_get (adj_document_get_graphs (document), graph);
  if (of != adj_document_get_graph (document))
    {
      *target = print_target (of, nodes);
      return ADJ_MENU_ELSEWHERE;
    }
  adj_document_show_nodes (document, graph, nodes);
  return ADJ_MENU_NODE;
}

void
adj_node_rows_show (AdjDocument *document, const char *target)
{
  AdjGraphSet *graphs = adj_document_get_graphs (document);
  g_auto (GStrv) words = g_strsplit (target, " ", -1);
  guint graph = adj_graph_set_find (graphs, words[0], NULL);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (graph == G_MAXUINT)
    return;
  for (guint i = 1; words[i] != NULL; i++)
    {
      AdjNodeId node = adj_graph_find_node (adj_graph_set_get (graphs, graph)->graph, words[i]);

      if (adj_node_id_is_valid (node))
        g_array_append_val (nodes, node.index);
    }
  adj_document_show_nodes (document, graph, nodes);
}

char *
adj_node_rows_list_names (const char *target)
{
  g_auto (GStrv) words = g_strsplit (target, " ", -1);

  return g_strjoinv ("\n", words + 1);
}
