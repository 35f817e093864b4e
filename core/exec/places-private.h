/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/verdict-private.h"

G_BEGIN_DECLS

/* (transfer full): the exact result of the operator of @side, with coordinates computed in float64
 * or rounded as PyTorch's kernels do, whichever is nearest to the value.  For other operators: the
 * exact result. */
AdjTensorData *places_find_nearest (const Side *side, const Leaf *leaf);

G_END_DECLS
