/* SPDX-License-Identifier: MIT */
/* The mode that infers shapes, dtypes and devices and computes no elements. */

#include "call/adj-allocate-internal.h"
#include "call/adj-constant.h"
#include "call/adj-effect-call.h"
#include "call/adj-higher-order.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"
#include "call/adj-trace-wrapped.h"

static gboolean
fake_call (AdjMode *mode, AdjOpCall *call)
{
  if (!adj_op_call_infer (call))
    return FALSE;
  if (call->op->traced != NULL)
    call->op->traced (call);
  if (!adj_op_call_allocate (call, TRUE))
    return FALSE;
  if ((call->op->flags & ADJ_OP_METADATA) != 0 && !call->op->kernel (call))
    return FALSE;
  adj_op_call_bump_versions (call);
  adj_constant_propagate (call);
  return TRUE;
}

/* Calls every body once, even if data would decide. */
static gboolean
fake_higher (AdjMode *mode, AdjHigherCall *call)
{
  AdjValue outs[ADJ_MAX_BODIES] = { ADJ_NONE, ADJ_NONE };
  g_autoptr (GArray) inputs = NULL;
  gboolean done;

  if (call->outs != NULL)
    return call->op->infer (call, call->outs);
  inputs = adj_higher_list_inputs (call);
  done = inputs != NULL;
  for (guint i = 0; i < call->op->n_bodies && done; i++)
    done = adj_higher_call_body (call, i, (gconstpointer) inputs->data, inputs->len, &outs[i]);
  done = done && call->op->infer (call, outs);
  for (guint i = 0; i < ADJ_MAX_BODIES; i++)
    adj_value_clear (&outs[i]);
  return done;
}

/* Refuses to run the function: its results are unknown, and a trace keeps the call. */
static gboolean
fake_wrapped (AdjMode *mode, AdjWrappedCall *call)
{
  adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "trace_wrapped: This op should never be invoked here");
  return FALSE;
}

static gboolean
fake_object (AdjMode *mode, AdjObjectCall *call)
{
  return adj_object_call_run_fake (call, mode);
}

static gboolean
fake_effect (AdjMode *mode, AdjEffectCall *call)
{
  return adj_effect_call_infer (call, mode);
}

static const AdjModeClass fake_class = {
  .name = "fake",
  .call = fake_call,
  .higher = fake_higher,
  .wrapped = fake_wrapped,
  .object = fake_object,
  .effect = fake_effect,
};

AdjMode *
adj_fake_mode_new (void)
{
  AdjMode *mode = g_new0 (AdjMode, 1);

  mode->klass = &fake_class;
  return mode;
}
