/* SPDX-License-Identifier: MIT */
/* unsaved: MUST_SAVE is forgotten on views and results of several, and below a budget of 1. */

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding.h"

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  const AdjAlias *aliases;
  g_autoptr (GArray) saved = pair_list_saved (region);
  g_autofree guint8 *is_saved = NULL;

  if (region->forward == NULL || region->backward == NULL || region->num_fwd_outputs < 0)
    return;
  aliases = adj_graph_get_aliases (region->forward);
  is_saved = g_new0 (guint8, adj_graph_get_n_nodes (region->forward));
  for (guint i = 0; i < saved->len; i++)
    is_saved[aliases[g_array_index (saved, AdjNodeId, i).index].must] = TRUE;
  for (guint i = 0; i < adj_graph_get_n_nodes (region->forward); i++)
    {
      const AdjNode *node = adj_graph_get_node (region->forward, i);

      /* It is also saved if a view of it is. */
      if (node->meta.recompute == ADJ_RECOMPUTE_MUST_SAVE && !is_saved[aliases[i].must] &&
          pair_find_call (region->backward, node->name) != NULL)
        pair_report (check, ADJ_SEVERITY_WARNING, region->backward,
                     adj_graph_find_node (region->backward, node->name).index, findings,
                     "'%s' is tagged MUST_SAVE (region %" G_GINT64_FORMAT
                     ") and computed again in backward",
                     node->name, node->meta.ac_graph_id);
    }
}

const AdjCheck adj_check_unsaved = {
  .name = "unsaved",
  .summary = "A value that must be saved is computed again",
  .explain =
      "A selective checkpoint policy may answer MUST_SAVE.  PyTorch's min-cut does not hear it "
      "on views and on single results of an operator, and with `activation_memory_budget` "
      "below 1 it recomputes such values like others.\n\n"
      "Partition with Adjoint, where the tag holds at every budget.",
  .versions = "2.4 to 2.6",
  .run = run,
};
