/* SPDX-License-Identifier: MIT */
/* A call of a higher-order operator that has an effect, through the modes. */

#include "call/adj-effect-call.h"

#include <string.h>

#include "call/adj-context-internal.h"

gboolean
adj_effect_call_fail (const AdjEffectCall *call, AdjError code, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  adj_context_fail (call->cx, ADJ_ERROR, code, "%s: %s", strrchr (call->op->target, '.') + 1,
                    message);
  return FALSE;
}

static gboolean
call_mode (AdjMode *mode, AdjEffectCall *call)
{
  while (mode != NULL && mode->klass->effect == NULL)
    mode = mode->below;
  if (mode == NULL)
    return adj_effect_call_fail (call, ADJ_ERROR_UNSUPPORTED, "no mode is left to run it");
  return mode->klass->effect (mode, call) && !adj_context_has_error (call->cx);
}

gboolean
adj_mode_call_effect_below (AdjMode *mode, AdjEffectCall *call)
{
  return call_mode (mode->below, call);
}

static gboolean
call_at (AdjEffectCall *call, gboolean (*func) (AdjEffectCall *call), AdjMode *entry)
{
  const AdjPlace place = *adj_context_get_place (call->cx);
  AdjMode *before = adj_context_set_entry (call->cx, entry);
  gboolean done = func (call);

  adj_context_set_entry (call->cx, before);
  adj_context_set_place (call->cx, &place);
  return done;
}

gboolean
adj_effect_call_run (AdjEffectCall *call, AdjMode *entry)
{
  return call_at (call, call->op->run, entry);
}

gboolean
adj_effect_call_infer (AdjEffectCall *call, AdjMode *entry)
{
  return call->op->infer == NULL || call_at (call, call->op->infer, entry);
}

static gboolean
run_call (AdjEffectCall *call, const AdjValue *kwargs, AdjValue *result)
{
  gboolean done;

  *result = ADJ_NONE;
  call->kwargs = kwargs != NULL ? kwargs : &ADJ_NONE;
  if (!adj_context_may_go_on (call->cx))
    return FALSE;
  done = call_mode (adj_context_get_entry (call->cx), call);
  if (done)
    *result = adj_value_steal (&call->result);
  adj_value_clear (&call->result);
  return done;
}

gboolean
adj_call_effect (AdjContext *cx,
                 const AdjEffectOp *op,
                 const AdjValue *args,
                 guint n_args,
                 const AdjValue *kwargs,
                 AdjValue *result)
{
  AdjEffectCall call = { .cx = cx, .op = op, .args = args, .n_args = n_args };

  g_return_val_if_fail (cx != NULL && op != NULL && result != NULL, FALSE);
  g_return_val_if_fail (n_args == 0 || args != NULL, FALSE);

  return run_call (&call, kwargs, result);
}

gboolean
adj_call_effect_after (AdjContext *cx,
                       AdjTensor *token,
                       const AdjEffectOp *op,
                       const AdjValue *args,
                       guint n_args,
                       const AdjValue *kwargs,
                       AdjValue *result,
                       AdjTensor **new_token)
{
  AdjEffectCall call = { .cx = cx, .op = op, .args = args, .n_args = n_args };

  g_return_val_if_fail (cx != NULL && op != NULL && result != NULL && new_token != NULL, FALSE);
  g_return_val_if_fail (n_args == 0 || args != NULL, FALSE);

  call.token = token != NULL ? token : adj_token_new (cx);
  call.new_token = *new_token = adj_token_new (cx);
  return run_call (&call, kwargs, result);
}
