/* SPDX-License-Identifier: MIT */
#pragma once

/* Private to kernels/cpu: what norm.c and norm-rows.c share. */

#include "tree.h"

/* The last @n dims of @view, the normalised ones, merged as far as possible. */
AdjKView adj_k_norm_column (const AdjKView *view, int n);
/* A view of one element per row, of a view with or without the normalised dims. */
AdjKView adj_k_norm_row (const AdjKView *view, int n);
/* Σ of @n elements, divided by @n */
Scalar adj_k_norm_mean (const ClassLoops *loops, const void *from, int n);
/* Computes the gradient of x if rows are short enough to be kept in a tile.  Returns whether those
 * of w and b, as far as they are wanted, were computed too. */
bool adj_k_norm_backward_rows (const AdjKLayerNormBackward *norm);
