/* SPDX-License-Identifier: MIT */
/* The rounding of an operator: how many roundings, and of which unit, are between its inputs and
 * its result. */

#include <math.h>

#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "exec/rounding-private.h"
#include "interpreter/adj-numeric-internal.h"
#include "ops/adj-ops.h"
#include "ops/adj-release-facts.h"

/* Error of sums, and of sums of products, in u of the absolute values of their terms, whatever the
 * sum is: PyTorch adds numbers in several partial sums, products one after the other. */
#define ADDING 1
#define ADDING_PRODUCTS 2

/* Multiples of adj_dtype_smallest() that an element may be off, and one more for each term. */
#define UNDERFLOW 4

/* Error of the logarithm of a sum of rough exponentials (ADJ_FACT_ROUGH_EXPONENTIALS). */
#define ROUGH 1.1e-4

typedef struct
{
  AdjMode mode;
  NodeRounding *sum;
  guint depth;
} RoundingMode;

/* Number of elements of the first tensor of @call. */
static double
count_first (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (call->args[i].kind == ADJ_VALUE_TENSOR)
      return (double) adj_shape_numel (&adj_tensor_get_meta (call->args[i].tensor)->shape, NULL)
          .word;
  return 0;
}

/* Which root of sums of powers @call gives. */
static double
find_root (const AdjOpCall *call)
{
  double root = 2;

  if ((call->op->flags & ADJ_OP_ROOT) == 0)
    return 1;
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, "p") ||
        g_str_equal (call->schema->arguments[i].name, "ord"))
      root = adj_op_call_double (call, i, 2);
  return isfinite (root) && root > 1 ? root : 1;
}

static gboolean
adds_in_turn (const AdjOpCall *call)
{
  if ((call->op->flags & ADJ_OP_ADDS_PIXELS_IN_TURN) != 0)
    return adj_shape_suggest_format (&adj_op_call_meta (call, 0)->shape, NULL) !=
           ADJ_MEMORY_FORMAT_CONTIGUOUS;
  return (call->op->flags & ADJ_OP_ADDS_IN_TURN) != 0;
}

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
      AdjBand band = adj_op_call_get_band (call);
      AdjRoundings call_rounds = adj_band_roundings (band, reduction);

      rounding->sum->narrow = (call->op->flags & ADJ_OP_ADDS_NARROW) != 0 && band >= ADJ_BAND_SUM;
      if (rounding->sum->narrow)
        call_rounds = (AdjRoundings){ call_rounds.of_result + call_rounds.within, 0 };
      rounding->sum->roundings.of_result += call_rounds.of_result;
      rounding->sum->roundings.within += call_rounds.within;
      rounding->sum->in_turn = adds_in_turn (call);
      rounding->sum->rough = adj_op_release_has (call, ADJ_FACT_ROUGH_EXPONENTIALS);
      rounding->sum->n_calls++;
      rounding->sum->band = band;
      rounding->sum->reduction = reduction;
      rounding->sum->op = call->op;
      rounding->sum->first = count_first (call);
      rounding->sum->root = find_root (call);
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

/* The coarser of @dtype and the dtype that intermediate results round to.  A node of several
 * operators rounds after each of them; a narrow sum is rounded in the dtype of its terms: PyTorch's
 * layer_norm accumulates gradients of f32 weights in the bf16 of its input. */
static AdjDType
coarser (const NodeRounding *rounding, AdjDType dtype)
{
  AdjDType other = rounding->n_calls > 1 ? rounding->of_steps
                   : rounding->narrow    ? rounding->of_inputs
                                         : dtype;

  return adj_dtype_unit_roundoff (other) > adj_dtype_unit_roundoff (dtype) ? other : dtype;
}

const AdjOp *
rounding_get_op (const NodeRounding *rounding)
{
  return rounding->n_calls == 1 ? rounding->op : NULL;
}

NodeRounding
rounding_of_result (const NodeRounding *rounding, gint64 n)
{
  const AdjOp *op = rounding_get_op (rounding);
  NodeRounding of_result = *rounding;
  AdjRoundings sum;

  if (op == NULL || (op->flags & ADJ_OP_ADDS_NARROW) == 0 || op->band >= ADJ_BAND_SUM ||
      (double) n >= rounding->first || n == 0)
    return of_result;
  of_result.narrow = TRUE;
  of_result.band = ADJ_BAND_SUM;
  of_result.reduction = rounding->first / (double) n;
  sum = adj_band_roundings (ADJ_BAND_SUM, of_result.reduction);
  of_result.roundings = (AdjRoundings){ sum.of_result + sum.within, 0 };
  return of_result;
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

/* The dtype of the terms of a sum of @dtype. */
static AdjDType
type_of_terms (const NodeRounding *rounding, AdjDType dtype)
{
  gboolean narrow = adj_dtype_unit_roundoff (dtype) > adj_dtype_unit_roundoff (ADJ_DTYPE_F32);

  return coarser (rounding, narrow && rounding->n_calls == 1 ? ADJ_DTYPE_F32 : dtype);
}

double
rounding_get_term_unit (const NodeRounding *rounding, AdjDType dtype)
{
  return adj_dtype_unit_roundoff (type_of_terms (rounding, dtype));
}

/* The limit of a sum accumulated in its own type, whose roundings are as large as the partial sums.
 */
double
rounding_get_sum_limit (const NodeRounding *rounding, AdjDType dtype)
{
  double adding = rounding->band == ADJ_BAND_PRODUCT ? ADDING_PRODUCTS : ADDING;

  if (rounding->roundings.within > 0)
    return rounding_get_term_unit (rounding, dtype) * adding;
  return adj_dtype_unit_roundoff (coarser (rounding, dtype)) *
         MAX (sqrt (rounding->reduction) / 2, adding);
}

double
rounding_get_bias (const NodeRounding *rounding, AdjDType dtype)
{
  gboolean rough = rounding->rough && dtype == ADJ_DTYPE_F32 &&
                   adj_dtype_unit_roundoff (rounding->of_inputs) > 0x1p-24;

  return rough ? ROUGH : 0;
}

double
rounding_get_underflow (const NodeRounding *rounding, AdjDType dtype)
{
  double of_terms = adj_dtype_smallest (type_of_terms (rounding, dtype)) * rounding->reduction;

  if (rounding->root > 1)
    of_terms = pow (of_terms, 1 / rounding->root);
  return UNDERFLOW * adj_dtype_smallest (dtype) + of_terms + rounding_get_bias (rounding, dtype);
}

double
rounding_get_term_limit (const NodeRounding *rounding, AdjDType dtype, gboolean coarse)
{

  if (coarse)
    return adj_dtype_unit_roundoff (coarser (rounding, dtype)) *
           (rounding->roundings.of_result + rounding->roundings.within);
  return adj_roundings_limit (rounding->roundings, type_of_terms (rounding, dtype));
}
