/* SPDX-License-Identifier: MIT */
/* The mode that computes: runs an operator's kernel, threads and memory limits included. */

#include "call/adj-allocate-internal.h"
#include "call/adj-effect-call.h"
#include "call/adj-higher-order.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op-internal.h"
#include "call/adj-op.h"
#include "call/adj-trace-wrapped.h"

static gboolean
is_empty (const AdjShape *shape)
{
  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_is_int (shape->size[i]) && shape->size[i].word == 0)
      return TRUE;
  return FALSE;
}

gboolean
adj_op_call_needs_kernel (const AdjOpCall *call)
{
  if (call->schema->n_returns == 0)
    return TRUE;
  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjOpResult *result = &call->results[i];
      gboolean written = call->schema->returns[call->returns_list ? 0 : i].type.written;

      if (result->tensor != NULL && (result->alias_of < 0 || written) &&
          !is_empty (&result->meta.shape))
        return TRUE;
    }
  return FALSE;
}

/* Refuses to write to a conjugate: it has memory of its own here, so that its base would not
 * change. */
static gboolean
check_writes (AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results && call->schema->n_returns > 0; i++)
    if (call->results[i].alias_of >= 0 && call->results[i].meta.conjugate &&
        call->schema->returns[call->returns_list ? 0 : i].type.written)
      return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED,
                                  "writes to a conjugate, which another tensor shows too");
  return TRUE;
}

static gboolean
eager_call (AdjMode *mode, AdjOpCall *call)
{
  if (!adj_op_call_infer (call) || !check_writes (call) || !adj_op_call_allocate (call, FALSE))
    return FALSE;
  if ((adj_op_call_needs_kernel (call) || (call->op->flags & ADJ_OP_METADATA) != 0) &&
      !adj_op_call_run_kernel (call))
    return FALSE;
  adj_op_call_bump_versions (call);
  return TRUE;
}

static gboolean
eager_higher (AdjMode *mode, AdjHigherCall *call)
{
  return call->op->run (call);
}

static gboolean
eager_wrapped (AdjMode *mode, AdjWrappedCall *call)
{
  return adj_wrapped_call_run (call);
}

static gboolean
eager_object (AdjMode *mode, AdjObjectCall *call)
{
  return adj_object_call_run (call, mode);
}

static gboolean
eager_effect (AdjMode *mode, AdjEffectCall *call)
{
  return adj_effect_call_run (call, mode);
}

static const AdjModeClass eager_class = {
  .name = "eager",
  .call = eager_call,
  .higher = eager_higher,
  .wrapped = eager_wrapped,
  .object = eager_object,
  .effect = eager_effect,
};

AdjMode *
adj_eager_mode_new (void)
{
  AdjMode *mode = g_new0 (AdjMode, 1);

  mode->klass = &eager_class;
  return mode;
}
