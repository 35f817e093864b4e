/* SPDX-License-Identifier: MIT */
/* Modules of nodes: their own, or those of the forward counterpart. */

#include "analysis/adj-modules.h"

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
