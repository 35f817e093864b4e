/* SPDX-License-Identifier: MIT */
/* early-update: a post-accumulate hook, which may write the leaf, runs before the last read of the
 * leaf in the backward. */

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/captured-calls-private.h"

static gboolean
runs_after_accumulation (const AdjNode *node)
{
  const AdjValue *kwargs = &node->kwargs;

  return captured_calls (node, ADJ_TARGET_CALL_HOOK) && kwargs->n == 2 &&
         kwargs->items[1].kind == ADJ_VALUE_STRING &&
         g_str_equal (kwargs->items[1].text, "post_acc_grad_hook");
}

/* The first node after hook @index that computes with the leaf; G_MAXUINT: none. */
static guint
find_reader (const AdjGraph *graph, const AdjAlias *aliases, guint index)
{
  guint leaf = captured_get_arg (adj_graph_get_node (graph, index), 1);

  for (guint i = index + 1; leaf != G_MAXUINT && i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNode *node = adj_graph_get_node (graph, i);

      for (guint k = 0; k < node->n_inputs && node->op != NULL; k++)
        if (aliases[node->inputs[k].index].must == aliases[leaf].must)
          return i;
    }
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
      guint reader = runs_after_accumulation (node) ? find_reader (graph, aliases, i) : G_MAXUINT;

      if (reader == G_MAXUINT)
        continue;
      adj_findings_add (
          findings, &(AdjFinding){ .check = check,
                                   .severity = ADJ_SEVERITY_ERROR,
                                   .graph = graph,
                                   .message = g_strdup_printf (
                                       "'%s' may write '%s', which '%s' then reads", node->name,
                                       adj_graph_get_node (graph, captured_get_arg (node, 1))->name,
                                       adj_graph_get_node (graph, reader)->name),
                                   .n_nodes = 2,
                                   .nodes = (AdjNodeId[]){ { i }, { reader } } });
    }
}

const AdjCheck adj_check_early_update = {
  .name = "early-update",
  .summary = "A hook may update a parameter that is still read",
  .explain =
      "An optimiser in a hook after accumulation (`register_post_accumulate_grad_hook`) writes the "
      "parameter.  The gradient of `x @ w` with respect to `x` reads `w`, and eager autograd "
      "computes it before the hook runs.  Compiled autograd moves accumulation and hook up, "
      "between "
      "the two gradients of one product, and the earlier layers get gradients of the updated "
      "weight, without an error.\n\n"
      "Update after the backward, or run it without compiled autograd.",
  .versions = "2.6",
  .run = run,
};
