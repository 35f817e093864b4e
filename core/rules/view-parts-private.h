/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-context.h"

G_BEGIN_DECLS

/* Makes result @part of a view operator with @args (in schema order) alone; borrowed from the
 * innermost scope, %NULL with the context in error. */
typedef AdjTensor *(*ViewPart) (AdjContext *cx, const AdjValue *args, guint part);

/* (nullable): %NULL for an operator with one result. */
ViewPart view_part_find (const AdjOp *op);

G_END_DECLS
