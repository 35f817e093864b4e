/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-higher-order.h"

G_BEGIN_DECLS

/* The number of higher-order operators. */
guint adj_higher_get_n (void);
/* (transfer none): one of the operators; @index < adj_higher_get_n (). */
const AdjHigherOp *adj_higher_get (guint index);
/* (transfer none) (nullable): by target, "torch.ops.higher_order.cond"; if releases call it with
 * different arguments, the record with @n_args. */
const AdjHigherOp *adj_higher_find (const char *target, guint n_args);

G_END_DECLS
