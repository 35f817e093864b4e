/* SPDX-License-Identifier: MIT */
/* trial: copies the graph unchanged. */

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "passes/adj-pass.h"

static AdjGraph *
trial_run (AdjGraph *in, AdjPassContext *context, GError **error)
{
  guint n = adj_graph_get_n_nodes (in);
  g_autoptr (AdjBuilder) builder = adj_builder_new_like (in);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);

  for (guint i = 0; i < n; i++)
    adj_builder_copy (builder, in, i, map);
  return adj_builder_seal (builder, error);
}

const AdjPass adj_pass_trial = {
  .name = "trial",
  .summary = "Copy every node",
  .explain = "The smallest pass that there can be.",
  .run = trial_run,
};
