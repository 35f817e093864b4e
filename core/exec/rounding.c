/* SPDX-License-Identifier: MIT */
#include "exec/rounding-private.h"
#include "ops/adj-ops.h"

typedef struct
{
  AdjMode mode;
  NodeRounding *sum;
  guint depth;
} RoundingMode;

static gboolean
rounding_call (AdjMode *mode, AdjOpCall *call)
{
  RoundingMode *rounding = (RoundingMode *) mode;
  gboolean done;

  rounding->depth++;
  done = adj_mode_call_below (mode, call);
  if (--rounding->depth == 0 && done)
    {
      double reduction = adj_op_call_get_reduction (call);
      AdjRoundings call_rounds = adj_band_roundings (call->op->band, reduction);

      if (call->op->flags & ADJ_OP_ADDS_NARROW)
        call_rounds = (AdjRoundings){ call_rounds.of_result + call_rounds.within, 0 };
      rounding->sum->roundings.of_result += call_rounds.of_result;
      rounding->sum->roundings.within += call_rounds.within;
      rounding->sum->n_calls++;
      rounding->sum->band = call->op->band;
      rounding->sum->reduction = reduction;
    }
  return done;
}

static const AdjModeClass rounding_class = { .name = "rounding", .call = rounding_call };

AdjMode *
rounding_mode_new (NodeRounding *sum)
{
  RoundingMode *rounding = g_new0 (RoundingMode, 1);

  rounding->mode.klass = &rounding_class;
  rounding->sum = sum;
  return &rounding->mode;
}

/* What several operators compute is rounded after each. */
static AdjDType
coarser (const NodeRounding *rounding, AdjDType dtype)
{
  return rounding->n_calls > 1 &&
                 adj_dtype_unit_roundoff (rounding->of_steps) > adj_dtype_unit_roundoff (dtype)
             ? rounding->of_steps
             : dtype;
}

double
rounding_get_limit (const NodeRounding *rounding, AdjDType dtype)
{
  return adj_roundings_limit (rounding->roundings, coarser (rounding, dtype));
}

double
rounding_get_unit (const NodeRounding *rounding, AdjDType dtype)
{
  return adj_dtype_unit_roundoff (coarser (rounding, dtype));
}

double
rounding_get_term_limit (const NodeRounding *rounding, AdjDType dtype, gboolean coarse)
{
  gboolean narrow = adj_dtype_unit_roundoff (dtype) > adj_dtype_unit_roundoff (ADJ_DTYPE_F32);
  AdjDType of_terms = narrow && rounding->n_calls == 1 ? ADJ_DTYPE_F32 : dtype;

  if (coarse)
    return adj_dtype_unit_roundoff (coarser (rounding, dtype)) *
           (rounding->roundings.of_result + rounding->roundings.within);
  return adj_roundings_limit (rounding->roundings, coarser (rounding, of_terms));
}
