/* SPDX-License-Identifier: MIT */
/* Stacking, splitting and expanding tensors: records only. */

#include "ops/table-private.h"

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/stacks.inc"
};

const OpFamily adj_family_stacks = { ops, G_N_ELEMENTS (ops) };
