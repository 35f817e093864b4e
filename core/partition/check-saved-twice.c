/* SPDX-License-Identifier: MIT */
/* saved-twice: a value is recomputed although a view of its memory is saved. */

#include "analysis/adj-aliases.h"
#include "ir/adj-graph.h"
#include "partition/pair-private.h"
#include "passes/adj-finding.h"

static void
run (const AdjCheck *check, const AdjCheckedRegion *region, AdjFindings *findings)
{
  g_autoptr (GArray) saved = pair_list_saved (region);
  const AdjAlias *aliases;

  if (saved->len == 0 || region->backward == NULL)
    return;
  aliases = adj_graph_get_aliases (region->forward);
  for (guint i = 0; i < saved->len; i++)
    {
      guint node = g_array_index (saved, AdjNodeId, i).index;
      const AdjNode *view = adj_graph_get_node (region->forward, node);
      const AdjNode *owner = adj_graph_get_node (region->forward, aliases[node].must);

      if (aliases[node].must != node && pair_find_call (region->forward, owner->name) != NULL &&
          pair_find_call (region->backward, owner->name) != NULL)
        pair_report (check, ADJ_SEVERITY_NOTE, region->forward, aliases[node].must, findings,
                     "'%s' is saved as '%s' and computed again in backward", owner->name,
                     view->name);
    }
}

const AdjCheck adj_check_saved_twice = {
  .name = "saved-twice",
  .summary = "A value is both saved and computed again",
  .explain =
      "Saving a view keeps the whole of what it looks at.  When backward computes that again "
      "beside, both the memory and the work are spent; saving the viewed value instead "
      "costs nothing more.",
  .versions = "2.1 to 2.6",
  .run = run,
};
