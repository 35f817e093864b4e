/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The table of operators: the records of core/ops, and variants derived from them. */

/* The number of operators, and the operator at @index below that. */
ADJ_PUBLIC guint adj_ops_get_n (void);
ADJ_PUBLIC const AdjOp *adj_ops_get (guint index);
/* (nullable): the operator named by "torch.ops.aten.add.Tensor"; %NULL: there is none. */
ADJ_PUBLIC const AdjOp *adj_op_find (const char *target);
/* Whether it has no effect besides its results, which depend only on the arguments. */
ADJ_PUBLIC gboolean adj_op_is_pure (const AdjOp *op);

G_END_DECLS
