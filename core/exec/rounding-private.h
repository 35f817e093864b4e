/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "interpreter/adj-numeric-internal.h"
#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* The rounding of a node: the sum over the operators that it calls, without those that these call.
 */
typedef struct
{
  AdjRoundings roundings;
  guint n_calls;
  AdjDType of_steps;  /* the dtype that intermediate results may be rounded to */
  AdjDType of_inputs; /* the coarsest of its inputs; ADJ_DTYPE_NONE */
  AdjBand band;       /* of the last of them */
  double reduction;
  const AdjOp *op; /* (nullable): the last of them */
  double first;    /* elements of its first tensor */
  double root;     /* it is this root of a sum of powers; 1: of none */
  gboolean narrow; /* it is added up in the type of its inputs, whatever its own is */
} NodeRounding;

/* Adds to *@rounding for each operator called. */
AdjMode *rounding_mode_new (NodeRounding *rounding);

/* The largest relative error of a result of @dtype. */
double rounding_get_limit (const NodeRounding *rounding, AdjDType dtype);

/* That of a result of @n elements. */
NodeRounding rounding_of_result (const NodeRounding *rounding, gint64 n);
/* One u of it. */
double rounding_get_unit (const NodeRounding *rounding, AdjDType dtype);
/* The part of it that grows with the terms of a sum rather than with the sum. */
double rounding_get_term_limit (const NodeRounding *rounding, AdjDType dtype, gboolean coarse);
/* By how much an element may be off for no other reason than that small numbers of @dtype are few.
 */
double rounding_get_underflow (const NodeRounding *rounding, AdjDType dtype);
/* (nullable): the operator that the node is. */
const AdjOp *rounding_get_op (const NodeRounding *rounding);
/* One u of what is not of @dtype on the way, but of float32. */
double rounding_get_term_unit (const NodeRounding *rounding, AdjDType dtype);
/* By how much of the absolute values of its terms a sum may be off. */
double rounding_get_sum_limit (const NodeRounding *rounding, AdjDType dtype);

G_END_DECLS
