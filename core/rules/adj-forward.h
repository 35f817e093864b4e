/* SPDX-License-Identifier: MIT */
#pragma once

#include "rules/adj-rule.h"

G_BEGIN_DECLS

/* Tangents of what a call gives (forward mode): by its row of ops/forward.inc; of a function of one
 * tensor, element by element, its gradient rule; of what is linear in all that has a gradient, the
 * operator itself. */

/* @call: has results; @tangents: by argument: TENSOR or NONE, or a LIST of these; @out: (array
 * length=n_results): borrowed from the innermost scope; %NULL where there is none.  Calls enter
 * where those of the context do.  %FALSE: the context is in error, by ADJ_ERROR_UNSUPPORTED where
 * nothing of the above holds. */
gboolean adj_forward_call (const AdjOpCall *call, const AdjValue *tangents, AdjTensor **out);

G_END_DECLS
