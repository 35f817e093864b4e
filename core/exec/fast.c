/* SPDX-License-Identifier: MIT */
/* The fast executor: like the planned one, with kernels that sum in other orders and without
 * rounding between fused calls. */

#include "exec/planned-private.h"

static gboolean
fast_available (GError **error)
{
  return TRUE;
}

static gboolean
fast_run (const AdjRunRequest *request,
          AdjRunResult *result,
          GCancellable *cancellable,
          GError **error)
{
  return exec_run_planned (request, ADJ_PLAN_UNROUNDED, &adj_k_cpu_fast_backend, result,
                           cancellable, error);
}

const AdjExecutor adj_executor_fast = {
  .name = "fast",
  .summary = "As planned, with fewer products and roundings: other bits, within the bands",
  .available = fast_available,
  .run = fast_run,
};
