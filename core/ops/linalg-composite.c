/* SPDX-License-Identifier: MIT */
/* Linear algebra that is decomposed before any mode sees it: records only. */

#include "ops/table-private.h"

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/linalg-composite.inc"
};

const OpFamily adj_family_linalg_composite = { ops, G_N_ELEMENTS (ops) };
