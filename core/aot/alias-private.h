/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/aot-private.h"

G_BEGIN_DECLS

/* @target as a view of @base, with the history that the user's function would have given it
 * (aot/SPEC.md §8.3).  Borrowed from the scope; %NULL with the context in error. */
AdjTensor *
aot_alias_new (AdjContext *cx, const AdjAotOutput *output, AdjTensor *base, AdjTensor *target);

/* A tensor on the memory that @target, a view of @base, had at compile time, with the history of
 * @target. */
AdjTensor *aot_alias_with_history (AdjContext *cx,
                                   const AdjAotOutput *output,
                                   AdjTensor *base,
                                   AdjTensor *target);

G_END_DECLS
