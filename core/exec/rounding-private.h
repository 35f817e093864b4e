/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "interpreter/adj-numeric.h"

G_BEGIN_DECLS

/* What a node rounds: the sum over the operators that it calls, not over those that these call. */
typedef struct
{
  AdjRoundings roundings;
  guint n_calls;
  AdjDType of_steps; /* to which what is computed in several steps may be rounded on the way */
  AdjBand band;      /* of the last of them */
  double reduction;
} NodeRounding;

/* Adds to *@rounding for each operator called. */
AdjMode *rounding_mode_new (NodeRounding *rounding);

/* The largest relative error of a result of @dtype. */
double rounding_get_limit (const NodeRounding *rounding, AdjDType dtype);
/* One u of it. */
double rounding_get_unit (const NodeRounding *rounding, AdjDType dtype);
/* The part of it that grows with the terms of a sum rather than with the sum. */
double rounding_get_term_limit (const NodeRounding *rounding, AdjDType dtype, gboolean coarse);

G_END_DECLS
