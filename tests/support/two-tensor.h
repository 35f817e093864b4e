/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-composite.h"

G_BEGIN_DECLS

/* A composite of two tensors with equal metadata: an operator runs on the first components of
 * all arguments, then on the second components. */
extern const AdjCompositeClass two_tensor_class;

/* Returns a tensor borrowed from the scope. */
AdjTensor *two_tensor_new (AdjContext *cx, AdjTensor *a, AdjTensor *b);
/* Like two_tensor_new() with a constant, which gradients must have too. */
AdjTensor *two_tensor_new_with (AdjContext *cx, AdjTensor *a, AdjTensor *b, gint64 constant);

G_END_DECLS
