/* SPDX-License-Identifier: MIT */
#include "call/allocate-private.h"

/* Whether any result has memory of its own that a kernel must fill. */
static gboolean
needs_kernel (const AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    if (call->results[i].tensor != NULL &&
        (call->results[i].alias_of < 0 ||
         call->schema->returns[call->returns_list ? 0 : i].type.written))
      return TRUE;
  return FALSE;
}

static gboolean
eager_call (AdjMode *mode, AdjOpCall *call)
{
  if (!adj_op_call_infer (call) || !adj_op_call_allocate (call, FALSE))
    return FALSE;
  if (!needs_kernel (call))
    return TRUE;
  if (call->op->kernel == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no CPU kernel");
  if (!call->op->kernel (call) || adj_context_has_error (call->cx))
    return FALSE;
  adj_op_call_bump_versions (call);
  return TRUE;
}

static const AdjModeClass eager_class = { .name = "eager", .call = eager_call };

AdjMode *
adj_eager_mode_new (void)
{
  AdjMode *mode = g_new0 (AdjMode, 1);

  mode->klass = &eager_class;
  return mode;
}
