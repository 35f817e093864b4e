/* SPDX-License-Identifier: MIT */
#pragma once

#include "trace/adj-composite.h"

G_BEGIN_DECLS

/* Two tensors that look like one: an operator is run on the first of all its arguments, then on the
 * second of all. */
extern const AdjCompositeClass two_tensor_class;

/* Borrowed from the scope. */
AdjTensor *two_tensor_new (AdjContext *cx, AdjTensor *a, AdjTensor *b);
/* The same with a constant: gradients have to have the same. */
AdjTensor *two_tensor_new_with (AdjContext *cx, AdjTensor *a, AdjTensor *b, gint64 constant);

G_END_DECLS
