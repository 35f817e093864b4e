/* SPDX-License-Identifier: MIT */
#include "exec/rounding-private.h"
#include "interpreter/adj-numeric.h"
#include "ops/adj-ops.h"

typedef struct
{
  AdjMode mode;
  double *limit;
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
    *rounding->limit +=
        adj_band_limit (call->op->band, ADJ_DTYPE_F64, adj_op_call_get_reduction (call));
  return done;
}

static const AdjModeClass rounding_class = { .name = "rounding", .call = rounding_call };

AdjMode *
rounding_mode_new (double *limit)
{
  RoundingMode *rounding = g_new0 (RoundingMode, 1);

  rounding->mode.klass = &rounding_class;
  rounding->limit = limit;
  return &rounding->mode;
}
