/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Along @dim, the elements of @in in ascending (descending) order and where each stood (i64); equal
 * ones stay in order, a NaN is larger than anything.  The outputs have the sizes of @in but for
 * @dim, where they may be shorter: then they get what comes first.  Returns false, with the outputs
 * in an unspecified state, when memory ran out. */
bool adj_k_sort (
    const AdjKView *values, const AdjKView *indices, const AdjKView *in, int dim, bool descending);
