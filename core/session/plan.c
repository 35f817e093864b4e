/* SPDX-License-Identifier: MIT */
/* The memory plan of a graph of a file: for its recorded inputs, else by its annotations. */

#include "session/inputs-private.h"

AdjPlan *
adj_session_plan (const AdjSessionRun *run, GError **error)
{
  g_auto (SessionInputs) inputs = { 0 };

  g_return_val_if_fail (run != NULL && run->graph != NULL, NULL);

  if (!session_find_inputs (run, &inputs, NULL))
    return adj_plan_new_annotated (run->graph->graph, 0, error);
  return adj_plan_new (run->graph->graph, inputs.values, inputs.n, 0, error);
}
