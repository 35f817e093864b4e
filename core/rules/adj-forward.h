/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/adj-rule.h"

G_BEGIN_DECLS

/* Tangents of what a call gives (forward mode): by its row of ops/forward.inc; of a function of one
 * tensor, element by element, its gradient rule; of what is linear in all that has a gradient, the
 * operator itself. */

/* As AdjRuleCall has it. */
typedef AdjTensor *(*AdjForwardZeros) (AdjContext *cx, const AdjTensorMeta *meta);

/* @call: has results; @tangents: by argument: TENSOR or NONE, or a LIST of these; @zeros:
 * (nullable): adj_forward_make_zeros() where it is %NULL; @out: (array length=n_results): borrowed
 * from the innermost scope; %NULL where there is none.  Calls enter where those of the context do.
 * %FALSE: the context is in error, by ADJ_ERROR_UNSUPPORTED where nothing of the above holds. */
gboolean adj_forward_call (const AdjOpCall *call,
                           const AdjValue *tangents,
                           AdjForwardZeros zeros,
                           AdjTensor **out);

/* Zeros like @meta as PyTorch's operators get them, expanded, and as a tensor that is known to be
 * zeros; borrowed from the innermost scope.  %NULL: the context is in error. */
AdjTensor *adj_forward_make_zeros (AdjContext *cx, const AdjTensorMeta *meta);
AdjTensor *adj_forward_make_efficient_zeros (AdjContext *cx, const AdjTensorMeta *meta);

G_END_DECLS
