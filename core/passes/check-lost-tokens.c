/* SPDX-License-Identifier: MIT */
/* lost-tokens: effects are ordered by tokens made in the graph that are not used, so that dead code
 * elimination may remove the effects. */

#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/captured-calls-private.h"

#define MAKE "torch.ops.prims._make_token.default"
#define SINK "torch.ops.prims._sink_tokens.default"

static guint
find_call (const AdjGraph *graph, const char *target)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (captured_calls (adj_graph_get_node (graph, i), target))
      return i;
  return G_MAXUINT;
}

static void
check_graph (const AdjCheck *check, AdjGraph *graph, AdjFindings *findings)
{
  guint make = graph != NULL ? find_call (graph, MAKE) : G_MAXUINT;

  if (make == G_MAXUINT || find_call (graph, SINK) != G_MAXUINT)
    return;
  adj_findings_add (
      findings, &(AdjFinding){ .check = check,
                               .severity = ADJ_SEVERITY_ERROR,
                               .graph = graph,
                               .message = g_strdup_printf ("'%s' begins a chain of effects that no "
                                                           "_sink_tokens ends",
                                                           adj_graph_get_node (graph, make)->name),
                               .n_nodes = 1,
                               .nodes = (AdjNodeId[]){ { make } } });
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  AdjGraph *const graphs[] = { region->inference, region->joint, region->forward, region->backward,
                               region->captured };

  for (guint i = 0; i < G_N_ELEMENTS (graphs); i++)
    check_graph (check, graphs[i], findings);
}

const AdjCheck adj_check_lost_tokens = {
  .name = "lost-tokens",
  .summary = "Nothing holds the end of a chain of effects",
  .explain =
      "Effects (prints, queues) are kept in order by tokens: each takes one and gives the next.  "
      "Inside a graph `_make_token()` gives the first, and `_sink_tokens([last])` sees to it that "
      "the chain is not dead.  Where a pass has dropped that, the next one may drop the effects "
      "that nothing else reads.\n\n"
      "Keep `_sink_tokens` where you remove or copy nodes: it has an effect.",
  .versions = "2.4 to 2.6",
  .run = run,
};
