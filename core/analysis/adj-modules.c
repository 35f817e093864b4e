/* SPDX-License-Identifier: MIT */
/* Modules of nodes: their own, those of the forward counterpart, or the block that stands for one.
 */

#include "analysis/adj-modules.h"

#include "analysis/adj-blocks.h"

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

const AdjModule *
adj_graph_get_modules (const AdjGraph *graph, guint index, guint *n)
{
  const AdjModule *modules = adj_node_get_modules (adj_graph_get_node (graph, index), n);
  const AdjBlocks *blocks;

  if (*n > 0)
    return modules;
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
