/* SPDX-License-Identifier: MIT */
/* repeated-write: extraction keeps every write whose arguments are available, so that a copy_ into
 * an input that is saved runs in both graphs (seen in 2.6, on batch norm below a budget of 1). */

#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding.h"

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  for (guint i = 0; region->backward != NULL && i < adj_graph_get_n_nodes (region->backward); i++)
    {
      const AdjNode *node = adj_graph_get_node (region->backward, i);

      if (node->opcode == ADJ_OPCODE_CALL_FUNCTION && (op_traits_of (node) & OP_EFFECT) != 0 &&
          pair_find_call (region->forward, node->name) != NULL)
        pair_report (check, ADJ_SEVERITY_ERROR, region->backward, i, findings,
                     "'%s' writes in forward and once more in backward", node->name);
    }
}

const AdjCheck adj_check_repeated_write = {
  .name = "repeated-write",
  .summary = "What forward writes is written again in backward",
  .explain = "The new value of an input that a module changes, such as the running mean of a batch "
             "norm, is copied into it at the end of the joint graph.  With "
             "`activation_memory_budget` below 1, and wherever the input itself is what backward "
             "computes from, the input is saved, and PyTorch then puts the copy into both graphs: "
             "each training step updates the statistics twice.\n\n"
             "Partition with Adjoint.",
  .versions = "2.4 to 2.6",
  .run = run,
};
