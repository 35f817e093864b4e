/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The table of operators: the records of core/ops, and the variants that were derived of them. */

/* How many there are, and the operator at @index, below that many. */
ADJ_PUBLIC guint adj_ops_get_n (void);
ADJ_PUBLIC const AdjOp *adj_ops_get (guint index);
/* (nullable): the operator that "torch.ops.aten.add.Tensor" names; %NULL: there is none. */
ADJ_PUBLIC const AdjOp *adj_op_find (const char *target);
/* Whether its results are all that it does, and the same whenever its arguments are. */
ADJ_PUBLIC gboolean adj_op_is_pure (const AdjOp *op);

G_END_DECLS
