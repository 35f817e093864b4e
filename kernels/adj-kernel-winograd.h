/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-conv.h"

/* Convolutions of 3 × 3 by Winograd's minimal filtering F(2×2, 3×3): 16 multiplications for four
 * elements of the result in the place of 36, between sums of elements of the input, of the weights
 * and of the result.  The rounding error is a few times that of adj_k_conv(), and an infinity in
 * the input makes NaN of all results of its tile.
 *
 * S. Winograd, Arithmetic Complexity of Computations, 1980; A. Lavin and S. Gray, Fast Algorithms
 * for Convolutional Neural Networks, 2016. */

/* Whether it can compute @conv, as @kind, and is faster: two spatial dims, float32, stride and
 * dilation 1, one group, enough channels. */
bool adj_k_winograd_pays (const AdjKConv *conv, AdjKConvKind kind);

/* As adj_k_conv(), adj_k_conv_input() and adj_k_conv_weight(); the same bits with any number of
 * threads.  They return false when memory ran out. */
bool adj_k_winograd (const AdjKConv *conv);
bool adj_k_winograd_input (const AdjKConv *conv);
bool adj_k_winograd_weight (const AdjKConv *conv);
