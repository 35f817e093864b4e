/* SPDX-License-Identifier: MIT */
/* Where PyTorch's partition computes something else than the joint graph. */

#include <string.h>

#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "partition/pair-private.h"
#include "partition/partitioners-private.h"
#include "passes/adj-check-internal.h"

static const AdjCheck *const checks[] = {
  &adj_check_merged_random,   &adj_check_recomputed_random, &adj_check_repeated_write,
  &adj_check_saved_reference, &adj_check_unsaved,
};

/* Whether a random operator is dropped or moved to backward, so that later ones draw other numbers
 * than in the joint graph. */
static gboolean
moves_draws (const AdjPartition *partition)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (partition->joint); i++)
    {
      AdjDecisionKind kind = partition->nodes[i].kind;

      if (pair_draws (adj_graph_get_node (partition->joint, i)) &&
          (kind == ADJ_DECISION_GONE ||
           (kind == ADJ_DECISION_BACKWARD && !adj_graph_depends_on_tangent (partition->joint, i))))
        return TRUE;
    }
  return FALSE;
}

const char *
partition_find_wrong (const AdjPartition *partition)
{
  const AdjCheckedRegion region = {
    .joint = partition->joint,
    .forward = partition->forward,
    .backward = partition->backward,
    .num_fwd_outputs = (gint) partition->num_fwd_outputs,
  };
  g_autoptr (AdjFindings) findings = adj_findings_new ();

  for (guint i = 0; i < G_N_ELEMENTS (checks); i++)
    {
      checks[i]->run (checks[i], &region, findings);
      if (adj_findings_get_n (findings) > 0)
        return checks[i]->summary;
    }
  return moves_draws (partition) ? "A random operator is dropped or waits for backward" : NULL;
}
