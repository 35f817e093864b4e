/* SPDX-License-Identifier: MIT */
/* saved-reference: forward saves a reference to memory that it writes to later, so that backward
 * reads the new value. */

#include "analysis/adj-aliases.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding.h"

/* By node: the call that writes to the memory that it made; 0: none. */
static guint32 *
find_writers (const AdjGraph *graph, const AdjAlias *aliases)
{
  guint32 *writers = g_new0 (guint32, adj_graph_get_n_nodes (graph));

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      const AdjSchema *schema = node->op != NULL ? adj_op_get_schema (node->op) : NULL;

      for (guint k = 0; schema != NULL && k < MIN (schema->n_arguments, node->args.n); k++)
        if (schema->arguments[k].type.written && node->args.items[k].kind == ADJ_VALUE_NODE)
          writers[aliases[node->args.items[k].node.index].must] = i;
    }
  return writers;
}

static gboolean is_read (AdjGraph *graph, guint node, guint n_calls);

/* Whether the call @user looks at @node. */
static gboolean
is_read_by (AdjGraph *graph, const AdjNode *user, guint node, guint n_calls)
{
  guint results = op_results_of (user, node, NULL);

  if (results == G_MAXUINT || n_calls == OP_MAX_CALLS)
    return TRUE;
  for (guint i = 0; i < user->n_users; i++)
    if ((op_result_bit (adj_graph_get_node (graph, user->users[i].index)) & results) != 0 &&
        is_read (graph, user->users[i].index, n_calls + 1))
      return TRUE;
  return FALSE;
}

static gboolean
is_read (AdjGraph *graph, guint node, guint n_calls)
{
  const AdjNode *read = adj_graph_get_node (graph, node);

  for (guint i = 0; i < read->n_users; i++)
    if (is_read_by (graph, adj_graph_get_node (graph, read->users[i].index), node, n_calls))
      return TRUE;
  return FALSE;
}

/* Whether backward looks at the value that forward saved as @name. */
static gboolean
is_read_in (AdjGraph *backward, const char *name)
{
  AdjNodeId saved = backward != NULL ? adj_graph_find_node (backward, name) : ADJ_NO_NODE;

  return !adj_node_id_is_valid (saved) || is_read (backward, saved.index, 0);
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  g_autoptr (GArray) saved = pair_list_saved (region);
  const AdjAlias *aliases;
  g_autofree guint32 *writers = NULL;

  if (saved->len == 0)
    return;
  aliases = adj_graph_get_aliases (region->forward);
  writers = find_writers (region->forward, aliases);
  for (guint i = 0; i < saved->len; i++)
    {
      guint node = g_array_index (saved, AdjNodeId, i).index;
      guint writer = writers[aliases[node].must];

      if (writer > node &&
          is_read_in (region->backward, adj_graph_get_node (region->forward, node)->name))
        pair_report (check, ADJ_SEVERITY_WARNING, region->forward, node, findings,
                     "'%s' is saved, but '%s' writes to its memory first: backward gets the new "
                     "value",
                     adj_graph_get_node (region->forward, node)->name,
                     adj_graph_get_node (region->forward, writer)->name);
    }
}

const AdjCheck adj_check_saved_reference = {
  .name = "saved-reference",
  .summary = "A saved value is overwritten before backward reads it",
  .explain = "What forward saves is a reference.  When an input is changed in place at the end of "
             "forward, and its old value was saved, backward computes with the new one, and the "
             "gradients are wrong.  The running statistics of a batch norm in training are not "
             "meant: backward does not look at them.\n\n"
             "Partition with Adjoint, which saves a copy.",
  .versions = "2.1 to 2.6",
  .run = run,
};
