/* SPDX-License-Identifier: MIT */
/* Modules of nodes: their own, those of the forward counterpart, or the block that replaces them.
 */

#include "analysis/adj-modules.h"

#include "analysis/adj-blocks.h"
#include "analysis/adj-counterparts.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"

const AdjModule *
adj_node_get_modules (const AdjNode *node, guint *n)
{
  const AdjNodeMeta *meta = &node->meta;

  *n = meta->n_modules > 0 ? meta->n_modules : meta->n_fwd_modules;
  return meta->n_modules > 0 ? meta->modules : meta->fwd_modules;
}

const char *
adj_node_get_module_path (const AdjNode *node)
{
  guint n;
  const AdjModule *modules = adj_node_get_modules (node, &n);

  return n > 0 && modules[n - 1].path != NULL ? modules[n - 1].path : "";
}

static gboolean
names_modules_of_gradients (const AdjGraph *graph)
{
  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->meta.n_fwd_modules > 0)
      return TRUE;
  return FALSE;
}

/* For each node the node with its modules; if no gradient has modules, for a gradient the last
 * forward node before it with its sequence number; G_MAXUINT32: none. */
static gpointer
find_naming (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  gboolean named = names_modules_of_gradients (graph);
  guint32 *naming = g_new (guint32, n + 1);
  g_autoptr (GHashTable) last = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint32 i = 0; i < n; i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      gboolean is_late = adj_graph_depends_on_tangent (graph, i);
      gpointer found = NULL;

      naming[i] = node->meta.n_modules + node->meta.n_fwd_modules > 0 ? i : G_MAXUINT32;
      if (node->meta.seq_nr < 0)
        continue;
      if (!is_late && naming[i] == i)
        g_hash_table_insert (last, (gpointer) &node->meta.seq_nr, GUINT_TO_POINTER (i));
      else if (is_late && !named && naming[i] != i && !adj_graph_adds_gradients (graph, i) &&
               !adj_graph_is_update (graph, i) &&
               g_hash_table_lookup_extended (last, &node->meta.seq_nr, NULL, &found))
        naming[i] = GPOINTER_TO_UINT (found);
    }
  return naming;
}

static const AdjGraphAnalysis naming_analysis = { find_naming, g_free };

const AdjModule *
adj_graph_get_modules (const AdjGraph *graph, guint index, guint *n)
{
  const guint32 *naming = adj_graph_analyse (graph, &naming_analysis);
  const AdjBlocks *blocks;

  *n = 0;
  if (naming[index] != G_MAXUINT32)
    return adj_node_get_modules (adj_graph_get_node (graph, naming[index]), n);
  blocks = adj_graph_get_blocks (graph);
  if (blocks->of_node[index] == ADJ_NO_BLOCK)
    return NULL;
  *n = 1;
  return &blocks->blocks[blocks->of_node[index]].module;
}

const char *
adj_graph_get_module_path (const AdjGraph *graph, guint index)
{
  guint n;
  const AdjModule *modules = adj_graph_get_modules (graph, index, &n);

  return n > 0 && modules[n - 1].path != NULL ? modules[n - 1].path : "";
}
