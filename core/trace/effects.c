/* SPDX-License-Identifier: MIT */
/* Calls of operators with side effects in a trace: one node each. */

#include "call/adj-object-call-internal.h"
#include "trace/tracer-private.h"

gboolean
adj_tracer_record_effect (AdjTracer *tracer, AdjMode *mode, AdjEffectCall *call)
{
  const AdjValue given = { .kind = ADJ_VALUE_TUPLE,
                           .n = call->n_args,
                           .items = (AdjValue *) call->args };
  const AdjTracedEffect effect = { call->token, call->new_token, call->op->target, FALSE };
  AdjValue args, kwargs;

  if (!adj_tracer_take (tracer, &given, &args) ||
      !adj_tracer_take (tracer, call->kwargs, &kwargs) || !adj_mode_call_effect_below (mode, call))
    return FALSE;
  if (call->token != NULL)
    return adj_tracer_add_ordered_call (tracer, &effect, &args, &kwargs, &call->result);
  adj_tracer_add_call (tracer, call->op->target, &args, &kwargs, &call->result);
  return TRUE;
}
