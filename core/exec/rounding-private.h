/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "interpreter/adj-numeric-internal.h"
#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* The rounding of a node: the sum over the operators that it calls directly. */
typedef struct
{
  AdjRoundings roundings;
  guint n_calls;
  AdjDType of_steps;  /* the dtype that intermediate results may be rounded to */
  AdjDType of_inputs; /* the coarsest dtype of its inputs; ADJ_DTYPE_NONE */
  AdjBand band;       /* of the last operator */
  double reduction;
  const AdjOp *op;  /* (nullable): the last operator */
  double first;     /* elements of its first tensor */
  double root;      /* the result is this root of a sum of powers; 1: it is no root */
  gboolean narrow;  /* accumulated in the dtype of its inputs, whatever its own is */
  gboolean in_turn; /* by PyTorch added in the type of the terms, one after another */
  gboolean rough;   /* its exponentials are, if its inputs have 16 bits */
} NodeRounding;

/* Adds to *@rounding for each operator called. */
AdjMode *rounding_mode_new (NodeRounding *rounding);

/* The largest relative error of a result of @dtype. */
double rounding_get_limit (const NodeRounding *rounding, AdjDType dtype);

/* The rounding of a result with @n elements. */
NodeRounding rounding_of_result (const NodeRounding *rounding, gint64 n);
/* The unit roundoff u of a result. */
double rounding_get_unit (const NodeRounding *rounding, AdjDType dtype);
/* The part of the limit that grows with the terms of a sum rather than with the sum. */
double rounding_get_term_limit (const NodeRounding *rounding, AdjDType dtype, gboolean coarse);
/* The absolute error that the logarithm of a sum of rough exponentials in @dtype has, in the same
 * direction in all elements. */
double rounding_get_bias (const NodeRounding *rounding, AdjDType dtype);
/* The absolute error of an element that underflow in @dtype explains, or a logarithm of rough
 * exponentials. */
double rounding_get_underflow (const NodeRounding *rounding, AdjDType dtype);
/* (nullable): the only operator that the node calls. */
const AdjOp *rounding_get_op (const NodeRounding *rounding);
/* The unit roundoff of the terms of a sum, which for a 16-bit @dtype is that of float32. */
double rounding_get_term_unit (const NodeRounding *rounding, AdjDType dtype);
/* The error of a sum relative to the absolute values of its terms. */
double rounding_get_sum_limit (const NodeRounding *rounding, AdjDType dtype);

G_END_DECLS
