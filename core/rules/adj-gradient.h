/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Gradients in the form that their receiver expects; both borrowed from the innermost scope. */

/* @tensor converted to the form of @meta: summed over broadcast dimensions, cast.  %NULL with the
 * context in error; the message begins with @prefix and names @index, its number among the
 * gradients. */
AdjTensor *adj_gradient_validate (
    AdjContext *cx, const char *prefix, guint index, AdjTensor *tensor, const AdjTensorMeta *meta);

/* Zeros of that form.  %NULL with the context in error. */
AdjTensor *adj_gradient_make_zeros (AdjContext *cx, const AdjTensorMeta *meta);

G_END_DECLS
