/* SPDX-License-Identifier: MIT */
/* The perturbation mode: computes in float64 and moves the result of every call by up to one
 * rounding. */

#include <math.h>
#include <string.h>

#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "exec/perturbation-mode-private.h"
#include "exec/perturbation-private.h"

typedef struct
{
  AdjMode mode;
  Perturbation move;
} PerturbationMode;

/* The seed for the next tensor. */
static guint64
next_seed (PerturbationMode *perturbation)
{
  return perturbation->move.seed += (guint64) 1 << 40;
}

/* Elements below this move by as much as this: results of transforms and factorizations, and of
 * cancelling differences, round relative to the whole tensor.  0: each moves by its own size. */
static double
least_to_move (const AdjOp *op, const AdjTensorData *data)
{
  gsize size, n;
  const double *numbers = g_bytes_get_data (adj_tensor_data_get_bytes (data), &size);
  double squares = 0;

  if (op->band != ADJ_BAND_LINALG && (op->flags & ADJ_OP_CANCELS) == 0)
    return 0;
  n = size / sizeof (double);
  for (gsize i = 0; i < n; i++)
    squares += isfinite (numbers[i]) ? numbers[i] * numbers[i] : 0;
  return sqrt (squares / (double) MAX (n, 1));
}

/* The arguments of @call, with perturbed coordinates where it is discontinuous; @coordinates (out)
 * (transfer full). */
static void
move_arguments (PerturbationMode *perturbation,
                const AdjOpCall *call,
                AdjValue *args,
                AdjValue *coordinates)
{
  memcpy (args, call->args, call->schema->n_arguments * sizeof *args);
  if ((call->op->flags & ADJ_OP_JUMPS) == 0)
    return;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, "grid") && args[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_meta (args[i].tensor)->dtype == ADJ_DTYPE_F64)
      {
        g_autoptr (AdjTensorData) data = adj_tensor_snapshot (args[i].tensor);
        g_autoptr (AdjTensorData) moved = perturbation_move_tensor (
            data, perturbation->move.coordinates, 1, next_seed (perturbation));

        args[i] = *coordinates = ADJ_TENSOR (adj_tensor_new_from_data (moved));
      }
}

static void
move_results (PerturbationMode *perturbation, AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    {
      AdjOpResult *result = &call->results[i];
      g_autoptr (AdjTensorData) data = NULL;
      g_autoptr (AdjTensorData) moved = NULL;

      if (result->is_none || result->tensor == NULL || result->alias_of >= 0 ||
          adj_dtype_get_real (adj_tensor_get_meta (result->tensor)->dtype) != ADJ_DTYPE_F64)
        continue;
      data = adj_tensor_snapshot (result->tensor);
      moved = perturbation_move_tensor (data, perturbation->move.results,
                                        least_to_move (call->op, data), next_seed (perturbation));
      adj_tensor_unref (result->tensor);
      result->tensor = adj_tensor_new_from_data (moved);
    }
}

static gboolean
perturbation_call (AdjMode *mode, AdjOpCall *call)
{
  PerturbationMode *perturbation = (PerturbationMode *) mode;
  const AdjValue *args = call->args;
  AdjValue moved[ADJ_MAX_ARGUMENTS];
  g_auto (AdjValue) coordinates = ADJ_NONE;
  gboolean done;

  move_arguments (perturbation, call, moved, &coordinates);
  call->args = moved;
  done = adj_mode_call_below (mode, call);
  call->args = args;
  if (done && call->op->band != ADJ_BAND_EXACT && perturbation->move.results > 0)
    move_results (perturbation, call);
  return done;
}

static const AdjModeClass perturbation_class = { .name = "perturbation",
                                                 .call = perturbation_call };

AdjMode *
perturbation_mode_new (const Perturbation *move)
{
  PerturbationMode *perturbation = g_new0 (PerturbationMode, 1);

  perturbation->mode.klass = &perturbation_class;
  perturbation->move = *move;
  return &perturbation->mode;
}
