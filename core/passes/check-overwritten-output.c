/* SPDX-License-Identifier: MIT */
/* overwritten-output: PyTorch replaces a returned input by its copy_ at the position of the output
 * among the user's outputs, without counting the mutated inputs that precede these. */

#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/metadata-private.h"

static gboolean
is_write_to (const AdjGraph *graph, const AdjValue *value, AdjNodeId input)
{
  const AdjNode *node;

  if (value->kind != ADJ_VALUE_NODE)
    return FALSE;
  node = adj_graph_get_node (graph, value->node.index);
  return g_str_equal (node->target, "torch.ops.aten.copy_.default") && node->n_inputs > 0 &&
         node->inputs[0].index == input.index;
}

static void
check_output (const AdjCheck *check,
              const AdjCheckedRegion *region,
              guint output,
              AdjFindings *findings)
{
  AdjGraph *graph = metadata_find_forward (region);
  const AdjNode *end = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
  const AdjValue *outputs = &end->args.items[0];
  const AdjValue *info = metadata_get_entry (region->metadata, "output_info", output);
  gint64 base = metadata_get_int (info, "base_idx");
  guint wanted = metadata_count_leading (region->metadata) + output;
  AdjNodeId nodes[2];

  if (!g_str_equal (metadata_get_text (info, "output_type"), "is_input") || base < 0 ||
      base >= adj_graph_get_n_inputs (graph) || wanted >= outputs->n || wanted == output ||
      metadata_get_mutation (region->metadata, (guint) base) != METADATA_IN_GRAPH ||
      !is_write_to (graph, &outputs->items[output], adj_graph_get_input (graph, (guint) base)))
    return;
  nodes[0] = outputs->items[output].node;
  nodes[1] = outputs->items[wanted].kind == ADJ_VALUE_NODE ? outputs->items[wanted].node : nodes[0];
  adj_findings_add (
      findings,
      &(AdjFinding){ .check = check,
                     .severity = ADJ_SEVERITY_ERROR,
                     .graph = graph,
                     .message = g_strdup_printf (
                         "'%s' is returned as output %u, which is something else; it "
                         "belongs to output %u",
                         adj_graph_get_node (graph, nodes[0].index)->name, output, wanted),
                     .n_nodes = 2,
                     .nodes = nodes });
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  AdjGraph *graph = metadata_find_forward (region);
  const AdjNode *output;

  if (graph == NULL || region->metadata == NULL)
    return;
  output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
  if (!adj_value_is_container (&output->args.items[0]))
    return;
  for (guint i = 0;
       i < metadata_count (region->metadata, "output_info") && i < output->args.items[0].n; i++)
    check_output (check, region, i, findings);
}

const AdjCheck adj_check_overwritten_output = {
  .name = "overwritten-output",
  .summary = "An input that is written and returned took the place of another output",
  .explain =
      "A function that writes two inputs, one of them seen by autograd, and returns the other one, "
      "gets the written input at the wrong position of the graph's outputs: another output, or the "
      "new value of another input, is lost without an error.\n\n"
      "`a.mul_(2); b.mul_(3); return a.sum(), b` returns `b` twice.\n\n"
      "Return a copy of the input (`b.clone()`), or write it outside.",
  .versions = "2.2 to 2.6",
  .run = run,
};
