/* SPDX-License-Identifier: MIT */
/* The mode that widens floating tensors and dtypes to float64 and passes the call on. */

#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-context.h"
#include "call/adj-effect-call.h"
#include "call/adj-mode.h"
#include "call/adj-object-call-internal.h"
#include "call/adj-op.h"

/* Makes every floating dtype of a call, and the default dtype, float64; tensor arguments already
 * are float64.  Random values are drawn in the narrower dtype. */
static gboolean
float64_call (AdjMode *mode, AdjOpCall *call)
{
  const AdjSchema *schema = call->schema;
  const AdjValue *args = call->args;
  AdjDType default_dtype = adj_context_get_default_dtype (call->cx);
  AdjDType narrow = adj_context_get_narrow_dtype (call->cx);
  AdjDType drawn = adj_dtype_is_floating (narrow) ? narrow : default_dtype;
  AdjValue promoted[ADJ_MAX_ARGUMENTS];
  gboolean done;

  memcpy (promoted, args, schema->n_arguments * sizeof *promoted);
  for (guint i = 0; i < schema->n_arguments; i++)
    if (schema->arguments[i].type.kind == ADJ_TYPE_KIND_SCALAR_TYPE &&
        adj_dtype_is_differentiable (adj_op_call_dtype (call, i, ADJ_DTYPE_NONE)))
      {
        drawn = adj_op_call_dtype (call, i, ADJ_DTYPE_NONE);
        promoted[i] = ADJ_DTYPE (adj_dtype_get_widest (drawn));
      }

  adj_context_set_drawn_dtype (call->cx, drawn);
  adj_context_set_default_dtype (call->cx, ADJ_DTYPE_F64);
  call->args = promoted;
  done = adj_mode_call_below (mode, call);
  call->args = args;
  adj_context_set_default_dtype (call->cx, default_dtype);
  adj_context_set_drawn_dtype (call->cx, ADJ_DTYPE_NONE);
  return done;
}

/* Operators that a method calls are widened, too; the state of the object is not. */
static gboolean
float64_object (AdjMode *mode, AdjObjectCall *call)
{
  return adj_object_call_run (call, mode);
}

static gboolean
float64_effect (AdjMode *mode, AdjEffectCall *call)
{
  return adj_effect_call_run (call, mode);
}

static const AdjModeClass float64_class = {
  .name = "float64",
  .call = float64_call,
  .object = float64_object,
  .effect = float64_effect,
};

AdjMode *
adj_float64_mode_new (void)
{
  AdjMode *mode = g_new0 (AdjMode, 1);

  mode->klass = &float64_class;
  return mode;
}
