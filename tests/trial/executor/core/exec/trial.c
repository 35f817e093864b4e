/* SPDX-License-Identifier: MIT */
/* trial: the interpreter under another name. */

#include "exec/adj-executor.h"

static gboolean
available (GError **error)
{
  return TRUE;
}

static gboolean
run (const AdjRunRequest *request, AdjRunResult *result, GCancellable *cancellable, GError **error)
{
  const AdjExecutor *interpreter = adj_executor_find ("interpreter", error);

  return interpreter != NULL && interpreter->run (request, result, cancellable, error);
}

const AdjExecutor adj_executor_trial = {
  .name = "trial",
  .summary = "The interpreter by another name",
  .available = available,
  .run = run,
};
