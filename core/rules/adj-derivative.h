/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

/* A gradient rule as mathematics: g is the gradient of the result, y the result, y1 the second of
 * several; calls of backward operators are replaced by what they compute (mathematics.inc). */
typedef struct
{
  char *argument; /* "self" */
  char *text;     /* "g · (1 − y · y)" */
} AdjDerivative;

/* By argument, in the order of the rule; empty if the operator has no rule. (transfer full)
 * (element-type AdjDerivative) */
GPtrArray *adj_derivative_list (const AdjOp *op);

G_END_DECLS
