/* SPDX-License-Identifier: MIT */
/* trial: finds calls of undefined operators in a joint graph. */

#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  guint n = region->joint != NULL ? adj_graph_get_n_nodes (region->joint) : 0;

  for (guint i = 0; i < n; i++)
    if (g_str_equal (adj_graph_get_node (region->joint, i)->target, "torch.ops.trial.call.default"))
      adj_findings_add (findings, &(AdjFinding){ .check = check,
                                                 .severity = ADJ_SEVERITY_WARNING,
                                                 .graph = region->joint,
                                                 .message = g_strdup ("a trial"),
                                                 .n_nodes = 1,
                                                 .nodes = (AdjNodeId[]){ { i } } });
}

const AdjCheck adj_check_trial = {
  .name = "trial",
  .summary = "An operator of nobody is called",
  .explain = "The smallest check that there can be.",
  .versions = "2.1 to 2.6",
  .run = run,
};
