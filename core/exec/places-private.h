/* SPDX-License-Identifier: MIT */
#pragma once

#include "exec/verdict-private.h"

G_BEGIN_DECLS

/* (transfer full): what the operator of @side gives exactly, at places that are computed in float64
 * or rounded as PyTorch's kernels round them, whichever comes nearest to the value.  Of other
 * operators: what is exact. */
AdjTensorData *places_find_nearest (const Side *side, const Leaf *leaf);

G_END_DECLS
