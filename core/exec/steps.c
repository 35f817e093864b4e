/* SPDX-License-Identifier: MIT */
/* The perturbation mode: computes in float64 and moves the result of every call by up to one
 * rounding. */

#include <math.h>
#include <string.h>

#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "exec/noise-private.h"
#include "exec/steps-private.h"

typedef struct
{
  AdjMode mode;
  StepsMove move;
} StepsMode;

/* For the next tensor. */
static guint64
next_seed (StepsMode *steps)
{
  return steps->move.seed += (guint64) 1 << 40;
}

/* (transfer full): @data, which is float64, each element moved by up to @step of it, and at least
 * by up to @step. */
static AdjTensorData *
move_places (const AdjTensorData *data, double step, guint64 seed)
{
  gsize size;
  const double *from = g_bytes_get_data (adj_tensor_data_get_bytes (data), &size);
  double *to = g_malloc (size);
  g_autoptr (GBytes) store = NULL;

  for (gsize i = 0; i < size / sizeof (double); i++)
    to[i] = from[i] + step * MAX (fabs (from[i]), 1) * noise_draw (seed + i);
  store = g_bytes_new_take (to, size);
  return adj_tensor_data_new (adj_tensor_data_get_meta (data), store, NULL);
}

/* The arguments of @call, with other places where it jumps; @places (out) (transfer full). */
static void
move_arguments (StepsMode *steps, const AdjOpCall *call, AdjValue *args, AdjValue *places)
{
  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  if ((call->op->flags & ADJ_OP_JUMPS) == 0)
    return;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, "grid") && args[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_meta (args[i].tensor)->dtype == ADJ_DTYPE_F64)
      {
        g_autoptr (AdjTensorData) data = adj_tensor_snapshot (args[i].tensor);
        g_autoptr (AdjTensorData) moved = move_places (data, steps->move.places, next_seed (steps));

        args[i] = *places = ADJ_TENSOR (adj_tensor_new_from_data (moved));
      }
}

static void
move_results (StepsMode *steps, AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjOpResult *result = &call->results[i];
      g_autoptr (AdjTensorData) data = NULL;
      g_autoptr (AdjTensorData) moved = NULL;

      if (result->is_none || result->tensor == NULL || result->alias_of >= 0 ||
          adj_tensor_get_meta (result->tensor)->dtype != ADJ_DTYPE_F64)
        continue;
      data = adj_tensor_snapshot (result->tensor);
      moved = noise_move_tensor (data, steps->move.results, next_seed (steps));
      adj_tensor_unref (result->tensor);
      result->tensor = adj_tensor_new_from_data (moved);
    }
}

static gboolean
steps_call (AdjMode *mode, AdjOpCall *call)
{
  StepsMode *steps = (StepsMode *) mode;
  const AdjValue *args = call->args;
  AdjValue moved[ADJ_MAX_ARGUMENTS];
  g_auto (AdjValue) places = ADJ_NONE;
  gboolean done;

  move_arguments (steps, call, moved, &places);
  call->args = moved;
  done = adj_mode_call_below (mode, call);
  call->args = args;
  if (done && call->op->band != ADJ_BAND_EXACT && steps->move.results > 0)
    move_results (steps, call);
  return done;
}

static const AdjModeClass steps_class = { .name = "steps", .call = steps_call };

AdjMode *
steps_mode_new (const StepsMove *move)
{
  StepsMode *steps = g_new0 (StepsMode, 1);

  steps->mode.klass = &steps_class;
  steps->move = *move;
  return &steps->mode;
}
