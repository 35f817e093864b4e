/* SPDX-License-Identifier: MIT */
/* Lists the kernels of a graph. */

#include "kernel-list.h"

#include <stdio.h>

#include "base/adj-error.h"
#include "formats/adj-kernels.h"
#include "ir/adj-graph.h"

/* "sin, mul" */
static char *
name_nodes (const AdjGraph *graph, const AdjKernel *kernel)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < kernel->n_nodes; i++)
    g_string_append_printf (text, "%s%s", i > 0 ? ", " : "",
                            adj_graph_get_node (graph, kernel->nodes[i].index)->name);
  return g_string_free (text, FALSE);
}

/* "net.py:12, net.py:14": the innermost line of each node, once. */
static char *
name_lines (const AdjGraph *graph, const AdjKernel *kernel)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < kernel->n_nodes; i++)
    {
      const AdjNodeMeta *meta = &adj_graph_get_node (graph, kernel->nodes[i].index)->meta;
      const AdjFrame *frame = meta->n_frames > 0 ? &meta->frames[meta->n_frames - 1] : NULL;
      g_autofree char *base = frame != NULL ? g_path_get_basename (frame->file) : NULL;
      char *line = frame != NULL ? g_strdup_printf ("%s:%u", base, frame->line) : NULL;

      if (line != NULL && g_hash_table_add (seen, line))
        g_string_append_printf (text, "%s%s", text->len > 0 ? ", " : "", line);
    }
  return g_string_free (text, FALSE);
}

AdjExit
adj_kernels_print (const AdjBundle *bundle, const AdjBundleGraph *graph, GError **error)
{
  g_autoptr (AdjKernels) kernels = adj_kernels_new (bundle, graph);

  if (kernels == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND,
                   "--kernels: the file does not say which kernels graph '%s' became", graph->id);
      return ADJ_EXIT_BAD_INPUT;
    }
  printf ("%-40s %6s  %-40s %s\n", "KERNEL", "LINE", "NODES", "SOURCE");
  for (guint i = 0; i < adj_kernels_get_n (kernels); i++)
    {
      const AdjKernel *kernel = adj_kernels_get (kernels, i);
      g_autofree char *nodes = name_nodes (graph->graph, kernel);
      g_autofree char *lines = name_lines (graph->graph, kernel);

      printf ("%-40s %6u  %-40s %s\n", kernel->name, kernel->line, nodes, lines);
    }
  if (adj_kernels_get_code (kernels) != NULL)
    printf ("\nlines of %s, which --fact prints\n", adj_kernels_get_code (kernels)->name);
  return ADJ_EXIT_DONE;
}
