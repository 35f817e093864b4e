/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Vectors that are known up to a factor of absolute value 1, as eigenvectors are: a sign, or of
 * complex ones a turn.
 *
 * (transfer full): @vectors, of which each column (row, when @rows) of each matrix is multiplied by
 * that factor which brings it nearest to @like; @vectors itself where sizes or dtypes do not fit.
 */
ADJ_PUBLIC AdjTensorData *
adj_gauge_align (AdjTensorData *vectors, const AdjTensorData *like, gboolean rows);

G_END_DECLS
