/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "rules/adj-rule.h"
#include "support/oracle.h"

G_BEGIN_DECLS

/* Recorded cases, called with other tensors than the recorded ones and differentiated. */

/* The next of a sequence of numbers in [−1, 1) with 24 bits; make-precision.py knows it. */
double case_random (guint32 *state);

gboolean case_is_differentiable (const AdjValue *value);
gboolean case_is_floating (const AdjValue *value);
/* Of the schema; %NULL when the case leaves it at its default. */
const AdjValue *case_argument (const OracleCase *c, guint index);
gboolean case_has_gradient (const AdjRule *rule, guint arg);

/* The whole storage of @tensor in @dtype: strides stay what they are. (transfer full) */
AdjTensor *case_cast (AdjTensor *tensor, AdjDType dtype);

/* Calls the operator with the leaves of its arguments, in the order of the schema, replaced by what
 * @place makes of them; what it writes is copied first, into @written (owned by the caller) when it
 * is not returned.  @out is borrowed from the scope and @written. */
gboolean case_call (AdjContext *cx,
                    const OracleCase *c,
                    AdjValueMapFunc place,
                    gpointer data,
                    AdjValue *written,
                    AdjValue *out);

/* The results that have a gradient, each with a random one of its own, rounded to @dtype. */
void case_collect_roots (
    AdjContext *cx, const AdjValue *result, AdjDType dtype, GPtrArray *roots, GPtrArray *grads);

/* A step of torch.func, which a mode takes; @result: owned by the caller. */
gboolean
case_step (AdjContext *cx, AdjTransform what, const AdjValue *args, guint n, AdjValue *result);

/* (transfer full): the elements in row-major order. */
double *case_read (AdjTensor *tensor, gint64 *n);

G_END_DECLS
