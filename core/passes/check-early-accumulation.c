/* SPDX-License-Identifier: MIT */
/* early-accumulation: a gradient is accumulated into a leaf and written afterwards. */

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/captured-calls-private.h"

/* The first write to the memory of the gradient of accumulation @index after it; G_MAXUINT: none.
 */
static guint
find_write (const AdjGraph *graph, const AdjAlias *aliases, guint index)
{
  guint grad = captured_get_arg (adj_graph_get_node (graph, index), 1);

  for (guint i = index + 1; grad != G_MAXUINT && i < adj_graph_get_n_nodes (graph); i++)
    if (captured_writes (adj_graph_get_node (graph, i)) && aliases[i].must == aliases[grad].must)
      return i;
  return G_MAXUINT;
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  AdjGraph *graph = region->captured;
  const AdjAlias *aliases = graph != NULL ? adj_graph_get_aliases (graph) : NULL;

  for (guint i = 0; graph != NULL && i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);
      guint write =
          captured_calls (node, ADJ_TARGET_ACCUMULATE) ? find_write (graph, aliases, i) : G_MAXUINT;

      if (write == G_MAXUINT)
        continue;
      adj_findings_add (findings,
                        &(AdjFinding){ .check = check,
                                       .severity = ADJ_SEVERITY_ERROR,
                                       .graph = graph,
                                       .message = g_strdup_printf (
                                           "'%s' adds a gradient that '%s' still writes",
                                           node->name, adj_graph_get_node (graph, write)->name),
                                       .n_nodes = 2,
                                       .nodes = (AdjNodeId[]){ { i }, { write } } });
    }
}

const AdjCheck adj_check_early_accumulation = {
  .name = "early-accumulation",
  .summary = "A leaf is given a gradient before that is finished",
  .explain =
      "PyTorch moves every `accumulate_grad_` right behind the later one of its arguments.  Where "
      "the "
      "gradient is written in place after that (the gradient of `y[1:3].mul_(2)` is), the leaf "
      "gets "
      "what was there before.\n\n"
      "Do not write through views of what is differentiated, or run that backward without compiled "
      "autograd.",
  .versions = "2.4 to 2.5",
  .run = run,
};
