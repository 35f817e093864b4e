/* SPDX-License-Identifier: MIT */
/* merged-random: PyTorch's list of operators that must not be merged lacks some random ones
 * (partition/SPEC.md §2.2). */

#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding.h"
#include "passes/adj-repeats.h"

static gboolean
is_random (const AdjGraph *graph, guint index, gpointer data)
{
  return pair_draws (adj_graph_get_node (graph, index));
}

static gboolean
is_gone (const AdjCheckedRegion *region, const char *name)
{
  return pair_find_call (region->forward, name) == NULL &&
         pair_find_call (region->backward, name) == NULL;
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  AdjGraph *joint = region->joint;
  g_autofree guint32 *first = NULL;

  if (joint == NULL || region->forward == NULL || region->backward == NULL)
    return;
  first = adj_graph_find_repeats (joint, is_random, NULL);
  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    {
      const AdjNode *node = adj_graph_get_node (joint, i);
      const AdjNode *kept = adj_graph_get_node (joint, first[i]);

      if (first[i] != i && node->n_users > 0 && is_gone (region, node->name) &&
          !is_gone (region, kept->name))
        pair_report (check, ADJ_SEVERITY_ERROR, joint, i, findings,
                     "'%s' draws its own numbers, but was merged into '%s'", node->name,
                     kept->name);
    }
}

const AdjCheck adj_check_merged_random = {
  .name = "merged-random",
  .summary = "Equal random operators became one draw",
  .explain =
      "Common subexpressions are merged before partitioning.  PyTorch keeps a list of random "
      "operators that are not, and `randn_like`, `randint_like` and some others are not on "
      "it: `x * randn_like(x) + randn_like(x)` uses one sample twice.\n\n"
      "Partition with Adjoint, or set `torch._functorch.config.cse = False`.",
  .versions = "2.1 to 2.6",
  .run = run,
};
