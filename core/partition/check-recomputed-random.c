/* SPDX-License-Identifier: MIT */
/* recomputed-random: below a budget of 1 PyTorch repeats random operators as they are; only tagged
 * ones get the generator's state (partition/SPEC.md §4.4). */

#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding.h"

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  for (guint i = 0; region->backward != NULL && i < adj_graph_get_n_nodes (region->backward); i++)
    {
      const AdjNode *node = adj_graph_get_node (region->backward, i);
      const AdjNode *before = pair_find_call (region->forward, node->name);

      if (before != NULL && pair_draws (node) && pair_draws (before))
        pair_report (check, ADJ_SEVERITY_ERROR, region->backward, i, findings,
                     "'%s' draws again in backward and gets other numbers than in forward: the "
                     "gradients are wrong",
                     node->name);
    }
}

const AdjCheck adj_check_recomputed_random = {
  .name = "recomputed-random",
  .summary = "A random operator is repeated with other numbers",
  .explain =
      "A dropout that backward computes again must use the mask of forward.  With activation "
      "checkpointing it runs from the saved state of the generator; with "
      "`activation_memory_budget` below 1 PyTorch repeats it without, and the gradients "
      "belong to another mask.\n\n"
      "Partition with Adjoint, wrap the region in `checkpoint`, or use a budget of 1.",
  .versions = "2.4 to 2.6",
  .run = run,
};
