/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-custom.h"
#include "autograd/autograd-private.h"

G_BEGIN_DECLS

/* -- values with tensors in them, of custom operations (custom-values.c) -- */

/* (transfer full): all tensors of @n values in order, borrowed. */
GPtrArray *custom_list_tensors (const AdjValue *values, guint n);
/* (transfer full): @value with each tensor replaced by a NODE, its index among them. */
AdjValue custom_number_tensors (const AdjValue *value);
/* @out (transfer full): @numbered with the tensors that @call saved put back.  %FALSE: the context
 * is in error. */
gboolean custom_unpack_tensors (AdjCustomCall *call, const AdjValue *numbered, AdjValue *out);
/* Replaces the tensors in @value by @tensors, in order. */
void custom_replace_tensors (AdjValue *value, AdjTensor *const *tensors);

/* -- torch.autograd.Function in a graph (function-apply.c) -- */

/* As AdjModeClass.apply. */
gboolean
function_apply (AdjMode *mode, AdjContext *cx, const AdjFunctionApply *apply, AdjValue *result);

G_END_DECLS
