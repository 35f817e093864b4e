/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Names of what a node calls. */

/* Says which operator a target names; %NULL: none, the target is opaque.  Who makes a graph gives
 * it one, adj_op_find() (ops/adj-op-table.h). */
typedef const AdjOp *(*AdjFindOpFunc) (const char *target);

/* (transfer full): the candidate name of a node that calls @target, before it is made unique
 * (ir/SPEC.md §2.1): the packet for traced nodes ("add" for torch.ops.aten.add.Tensor). */
ADJ_PUBLIC char *adj_target_get_stem (const char *target);

G_END_DECLS
