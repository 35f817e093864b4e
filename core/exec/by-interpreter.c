/* SPDX-License-Identifier: MIT */
/* Runs that executors of plans leave to the interpreter. */

#include "exec/by-interpreter-private.h"

const char *
exec_find_unplannable (const AdjRunRequest *request)
{
  if (request->float64)
    return "a plan computes in the dtypes of the graph, not in float64";
  if (request->replace != NULL)
    return "values are put in the place of those that are computed";
  return NULL;
}

gboolean
exec_run_by_interpreter (const AdjRunRequest *request,
                         const char *why,
                         AdjRunResult *result,
                         GCancellable *cancellable,
                         GError **error)
{
  const AdjExecutor *interpreter = adj_executor_find ("interpreter", error);

  if (interpreter == NULL || !interpreter->run (request, result, cancellable, error))
    return FALSE;
  result->note = g_strdup_printf ("run by the interpreter: %s", why);
  return TRUE;
}
