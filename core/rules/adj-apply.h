/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"
#include "ops/adj-ops.h"

G_BEGIN_DECLS

/* Calls of operators in C; results are borrowed from the innermost scope. */

/* Calls an operator with positional arguments; %NULL if that fails or returns no tensor. */
AdjTensor *adj_apply (AdjContext *cx, AdjOpId op, const AdjValue *args, guint n);
#define ADJ_APPLY(cx, op, ...)                                                                     \
  adj_apply ((cx), (op), (const AdjValue[]){ __VA_ARGS__ },                                        \
             G_N_ELEMENTS (((const AdjValue[]){ __VA_ARGS__ })))

AdjTensor *adj_apply_clone_contiguous (AdjContext *cx, AdjTensor *tensor);

/* Sums @tensor over the dimensions that were broadcast from @to: sum.dim_IntList that keeps the
 * dimensions, then a view without the leading ones. */
AdjTensor *adj_apply_sum_to (AdjContext *cx, AdjTensor *tensor, const AdjShape *to);

G_END_DECLS
