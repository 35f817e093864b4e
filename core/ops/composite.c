/* SPDX-License-Identifier: MIT */
/* Operators that are decomposed before any mode sees them: records only. */

#include "ops/table-private.h"

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/composite.inc"
};

const OpFamily adj_family_composite = { ops, G_N_ELEMENTS (ops) };
