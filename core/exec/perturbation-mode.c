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

/* For the next tensor. */
static guint64
next_seed (PerturbationMode *perturbation)
{
  return perturbation->move.seed += (guint64) 1 << 40;
}

/* (transfer full): @data, which is float64, each element moved by up to @step of it, and at least
 * by up to @step. */
static AdjTensorData *
move_coordinates (const AdjTensorData *data, double step, guint64 seed)
{
  gsize size;
  const double *from = g_bytes_get_data (adj_tensor_data_get_bytes (data), &size);
  double *to = g_malloc (size);
  g_autoptr (GBytes) store = NULL;

  for (gsize i = 0; i < size / sizeof (double); i++)
    to[i] = from[i] + step * MAX (fabs (from[i]), 1) * perturbation_draw (seed + i);
  store = g_bytes_new_take (to, size);
  return adj_tensor_data_new (adj_tensor_data_get_meta (data), store, NULL);
}

/* The arguments of @call, with other places where it jumps; @coordinates (out) (transfer full). */
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
        g_autoptr (AdjTensorData) moved =
            move_coordinates (data, perturbation->move.coordinates, next_seed (perturbation));

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
      moved = perturbation_move_tensor (data, perturbation->move.results, next_seed (perturbation));
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

static const AdjModeClass perturbation_class = { .name = "steps", .call = perturbation_call };

AdjMode *
perturbation_mode_new (const Perturbation *move)
{
  PerturbationMode *perturbation = g_new0 (PerturbationMode, 1);

  perturbation->mode.klass = &perturbation_class;
  perturbation->move = *move;
  return &perturbation->mode;
}
