/* SPDX-License-Identifier: MIT */
#pragma once

#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "rules/adj-rule.h"
#include "support/oracle.h"

G_BEGIN_DECLS

/* Recorded cases called with tensors other than the recorded ones, and differentiated. */

/* Returns the next of a sequence of numbers in [−1, 1) with 24 bits; make-precision.py repeats
 * the sequence. */
double case_random (guint32 *state);

gboolean case_is_differentiable (const AdjValue *value);
gboolean case_is_floating (const AdjValue *value);
/* Argument number @index of the schema; %NULL when the case leaves it at its default. */
const AdjValue *case_argument (const OracleCase *c, guint index);
gboolean case_has_gradient (const AdjRule *rule, guint arg);

/* (transfer full): @tensor with its whole storage converted to @dtype and unchanged strides. */
AdjTensor *case_cast (AdjTensor *tensor, AdjDType dtype);

/* Calls the operator with each leaf of its arguments, in schema order, replaced by the result of
 * @place. Arguments that it writes are copied first, into @written (owned by the caller) if they
 * are not returned.  @out is borrowed from the scope and @written. */
gboolean case_call (AdjContext *cx,
                    const OracleCase *c,
                    AdjValueMapFunc place,
                    gpointer data,
                    AdjValue *written,
                    AdjValue *out);

/* Appends the results that have a gradient to @roots, and a random gradient rounded to @dtype
 * for each. */
void case_collect_roots (
    AdjContext *cx, const AdjValue *result, AdjDType dtype, GPtrArray *roots, GPtrArray *grads);

/* Calls a step of torch.func, which a mode handles.  @result: owned by the caller. */
gboolean
case_step (AdjContext *cx, AdjTransform what, const AdjValue *args, guint n, AdjValue *result);

/* (transfer full): the elements in row-major order. */
double *case_read (AdjTensor *tensor, gint64 *n);

G_END_DECLS
