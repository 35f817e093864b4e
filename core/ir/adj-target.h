/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Targets: the names of functions, modules and attributes that nodes refer to. */

/* Resolves a target to an operator; %NULL: none, the target is opaque. The maker of a graph passes
 * adj_op_find() (ops/adj-op-table.h). */
typedef const AdjOp *(*AdjFindOpFunc) (const char *target);

/* (transfer full): the candidate name of a node that calls @target, before it is made unique
 * (ir/SPEC.md §2.1): the packet for traced nodes ("add" for torch.ops.aten.add.Tensor). */
ADJ_PUBLIC char *adj_target_get_stem (const char *target);

G_END_DECLS
