/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-expr.h"
#include "call/adj-op.h"

G_BEGIN_DECLS

/* Whether argument @arg of @call is a complex tensor or number. */
gboolean op_argument_is_complex (const AdjOpCall *call, guint arg);

/* The real or the imaginary part of result @result of a pointwise body over complex arguments, as
 * a body over real ones: there a name is the real part of an argument, `imag (name)` the other.
 * (transfer none) (nullable): of @arena; %NULL with the call failed where the body asks for what
 * complex numbers have not. */
const AdjExpr *op_complex_body (
    const AdjOpCall *call, const AdjExpr *body, guint result, AdjPart part, AdjArena *arena);

G_END_DECLS
