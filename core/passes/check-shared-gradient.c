/* SPDX-License-Identifier: MIT */
/* shared-gradient: one value becomes the gradient of two leaves; an executor may give both the same
 * memory. */

#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/captured-calls-private.h"

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  AdjGraph *graph = region->captured;

  for (guint i = 0; graph != NULL && i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *value = adj_graph_get_node (graph, i);
      AdjNodeId nodes[2];
      guint n = 0;

      /* The memory of an input is never taken over as a gradient. */
      for (guint k = 0; k < value->n_users && n < 2 && value->op != NULL; k++)
        {
          const AdjNode *user = adj_graph_get_node (graph, value->users[k].index);

          if (captured_calls (user, ADJ_TARGET_ACCUMULATE) && captured_get_arg (user, 1) == i)
            nodes[n++] = value->users[k];
        }
      if (n < 2)
        continue;
      adj_findings_add (
          findings,
          &(AdjFinding){ .check = check,
                         .severity = ADJ_SEVERITY_WARNING,
                         .graph = graph,
                         .message = g_strdup_printf (
                             "'%s' becomes the gradient of two leaves, by '%s' and "
                             "'%s'",
                             value->name, adj_graph_get_node (graph, nodes[0].index)->name,
                             adj_graph_get_node (graph, nodes[1].index)->name),
                         .n_nodes = 2,
                         .nodes = nodes });
    }
}

const AdjCheck adj_check_shared_gradient = {
  .name = "shared-gradient",
  .summary = "Two leaves may share the memory of one gradient",
  .explain =
      "Accumulation takes over the memory of a new gradient that nobody else holds.  In "
      "`((x + y) * 2).sum().backward()` both leaves get the same value; run node by node, as with "
      "`backend=\"eager\"`, PyTorch does not see that it is read twice, and `x.grad` and `y.grad` "
      "are one memory.  The second step adds to it twice: 6 instead of 4.\n\n"
      "A compiler that copies (Inductor) and Adjoint are right; set `.grad` to `None` before each "
      "step, or compile further.",
  .versions = "2.4 to 2.6",
  .run = run,
};
