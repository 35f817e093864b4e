/* SPDX-License-Identifier: MIT */
/* wrong-base: removing a repeated argument renumbers the bases of outputs as if they were inputs.
 * Bases are numbered in the order in which outputs first save them, so that a number out of order
 * was changed. */

#include "ir/adj-graph.h"
#include "passes/adj-finding-internal.h"
#include "passes/metadata-private.h"

static void
add_finding (const AdjCheck *check,
             const AdjCheckedRegion *region,
             guint output,
             gint64 base,
             AdjFindings *findings)
{
  AdjGraph *graph = metadata_find_forward (region);
  const AdjNode *end = adj_graph_get_node (graph, adj_graph_get_output (graph).index);
  const AdjValue *outputs = &end->args.items[0];
  guint at = metadata_count_leading (region->metadata) + output;
  gboolean is_node = at < outputs->n && outputs->items[at].kind == ADJ_VALUE_NODE;

  adj_findings_add (findings, &(AdjFinding){ .check = check,
                                             .severity = ADJ_SEVERITY_ERROR,
                                             .graph = graph,
                                             .message = g_strdup_printf (
                                                 "output %u is rebuilt from base %" G_GINT64_FORMAT
                                                 ", which is the base of other outputs",
                                                 output, base),
                                             .n_nodes = is_node,
                                             .nodes = is_node ? &outputs->items[at].node : NULL });
}

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  gint64 next = 0;

  if (metadata_find_forward (region) == NULL || region->metadata == NULL)
    return;
  for (guint i = 0; i < metadata_count (region->metadata, "output_info"); i++)
    {
      const AdjValue *info = metadata_get_entry (region->metadata, "output_info", i);
      const char *type = metadata_get_text (info, "output_type");
      gint64 base = metadata_get_int (info, "base_idx");

      if (g_str_equal (type, "alias_of_intermediate_save_as_output"))
        {
          if (base != next++)
            add_finding (check, region, i, base, findings);
        }
      else if (g_str_equal (type, "alias_of_intermediate") && base >= next)
        add_finding (check, region, i, base, findings);
    }
}

const AdjCheck adj_check_wrong_base = {
  .name = "wrong-base",
  .summary = "Outputs that are views are rebuilt from the wrong tensor",
  .explain =
      "Where a function gets the same tensor twice and writes it, PyTorch drops the second "
      "argument "
      "and renumbers what refers to arguments.  It renumbers the bases of outputs too, which are "
      "no arguments: with two bases or more, outputs are rebuilt from another one.  Values and "
      "gradients are wrong without an error.\n\n"
      "Pass the tensor once, or return copies of the views.",
  .versions = "2.4 to 2.6",
  .run = run,
};
