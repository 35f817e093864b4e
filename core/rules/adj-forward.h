/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/adj-rule.h"

G_BEGIN_DECLS

/* Tangents of the results of a call (forward mode): by its row of ops/forward.inc; for elementwise
 * functions of one tensor by its gradient rule; for operators linear in all differentiable
 * arguments by the operator itself. */

/* As AdjRuleCall has it. */
typedef AdjTensor *(*AdjForwardZeros) (AdjContext *cx, const AdjTensorMeta *meta);

/* @call: has results; @tangents: by argument: TENSOR or NONE, or a LIST of these; @zeros:
 * (nullable): %NULL: adj_forward_make_zeros(); @out: (array length=n_results): borrowed from the
 * innermost scope; %NULL where there is none.  Calls are made at the entry of the context. %FALSE:
 * the context is in error; ADJ_ERROR_UNSUPPORTED if none of the above applies. */
gboolean adj_forward_call (const AdjOpCall *call,
                           const AdjValue *tangents,
                           AdjForwardZeros zeros,
                           AdjTensor **out);

/* Zeros with the metadata @meta as PyTorch's operators get them: expanded, and as a tensor known to
 * be zeros; borrowed from the innermost scope.  %NULL: the context is in error. */
AdjTensor *adj_forward_make_zeros (AdjContext *cx, const AdjTensorMeta *meta);
AdjTensor *adj_forward_make_efficient_zeros (AdjContext *cx, const AdjTensorMeta *meta);

G_END_DECLS
