/* SPDX-License-Identifier: MIT */
/* Alias versions: which node's result a piece of memory holds after each write. */

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-call.h"
#include "call/adj-schema.h"
#include "exec/alias-versions-private.h"
#include "ir/adj-graph.h"

struct _AliasVersions
{
  const AdjGraph *graph;
  const AdjAlias *aliases;
  guint *tensor; /* of each node: the node whose tensor it returns */
  guint *holder;
};

AliasVersions *
alias_versions_new (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  AliasVersions *versions = g_new0 (AliasVersions, 1);

  versions->graph = graph;
  versions->aliases = adj_graph_get_aliases (graph);
  versions->tensor = g_new0 (guint, n + 1);
  versions->holder = g_new0 (guint, n + 1);
  return versions;
}

void
alias_versions_free (AliasVersions *versions)
{
  g_free (versions->tensor);
  g_free (versions->holder);
  g_free (versions);
}

/* Marks the nodes up to @writer that may share memory with node @input as unknown, or held by
 * @writer where it writes that tensor in place. */
static void
write_to (AliasVersions *versions, guint input, guint writer, gboolean in_place)
{
  for (guint k = 0; k <= writer; k++)
    if (versions->aliases[k].may == versions->aliases[input].may)
      versions->holder[k] = in_place && versions->tensor[k] == versions->tensor[input]
                                ? writer
                                : ALIAS_VERSIONS_UNKNOWN;
}

void
alias_versions_pass (AliasVersions *versions, guint index)
{
  const AdjNode *node = adj_graph_get_node (versions->graph, index);
  const AdjAlias *alias = &versions->aliases[index];
  gboolean in_place = alias->kind == ADJ_ALIAS_SAME;

  versions->tensor[index] = in_place ? versions->tensor[alias->base] : index;
  versions->holder[index] = index;
  if (in_place)
    write_to (versions, alias->base, index, TRUE);
  else if (adj_node_may_write (node))
    for (guint i = 0; i < node->n_inputs; i++)
      write_to (versions, node->inputs[i].index, index, FALSE);
}

gboolean
alias_versions_writes_shared (const AliasVersions *versions, guint index)
{
  const AdjNode *node = adj_graph_get_node (versions->graph, index);
  const guint n = adj_node_may_write (node) ? node->n_inputs : 0;

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < i; k++)
      if (node->inputs[i].index != node->inputs[k].index &&
          versions->aliases[node->inputs[i].index].may ==
              versions->aliases[node->inputs[k].index].may)
        return TRUE;
  return FALSE;
}

guint
alias_versions_get_holder (const AliasVersions *versions, guint index)
{
  return versions->holder[index];
}
