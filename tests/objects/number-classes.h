/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"
#include "objects/adj-extensions.h"

G_BEGIN_DECLS

/* The classes and operators of captures/opaque-inputs.py, provided by a program: objects with a
 * number that their members show. */
extern const AdjObjectClass number_counter, number_scale, number_shift, number_speed;
/* count: x + n; scale and slow: x * n; shift: x + n; bump: increments n, then x + n, and has an
 * ordered effect. */
extern const AdjOp number_op_count, number_op_scale, number_op_shift, number_op_slow,
    number_op_bump;

double number_read (const AdjValue *object);
/* Returns an object borrowed from the innermost scope. */
AdjValue number_new_in (AdjContext *cx, const AdjObjectClass *klass, double number);
/* (transfer full): extensions with all of these classes and operators. */
AdjExtensions *number_extensions_new (void);
/* (transfer full): the graph of captures/@name, read with @extensions. */
AdjGraph *number_read_graph (const AdjExtensions *extensions, const char *name);

G_END_DECLS
