/* SPDX-License-Identifier: MIT */
#pragma once

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* Vectors defined up to a factor of absolute value 1, such as eigenvectors: a sign, or for complex
 * ones a phase.
 *
 * (transfer full): @vectors, of which each column (row, when @rows) of each matrix is multiplied by
 * the factor that brings it nearest to @like; @vectors itself if sizes or dtypes differ.
 */
ADJ_PUBLIC AdjTensorData *
adj_gauge_align (AdjTensorData *vectors, const AdjTensorData *like, gboolean rows);

G_END_DECLS
