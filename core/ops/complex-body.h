/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Whether argument @arg of @call is a complex tensor or number. */
gboolean op_argument_is_complex (const AdjOpCall *call, guint arg);

/* The real or imaginary part of result @result of a pointwise body over complex arguments, as a
 * real body: a name is the real part of an argument, `imag (name)` the imaginary one. (transfer
 * none) (nullable): in @arena; %NULL with the call failed if the body uses an operation that
 * complex numbers do not have. */
const AdjExpr *op_complex_body (
    const AdjOpCall *call, const AdjExpr *body, guint result, AdjPart part, AdjArena *arena);

G_END_DECLS
