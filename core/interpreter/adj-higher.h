/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-higher-order.h"

G_BEGIN_DECLS

/* How many higher-order operators there are. */
guint adj_higher_get_n (void);
/* (transfer none): one of them; @index < adj_higher_get_n (). */
const AdjHigherOp *adj_higher_get (guint index);
/* (transfer none) (nullable): by target, "torch.ops.higher_order.cond"; where releases call one
 * with other arguments, the record with as many. */
const AdjHigherOp *adj_higher_find (const char *target, guint n_args);

G_END_DECLS
