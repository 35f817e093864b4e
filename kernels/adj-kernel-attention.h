/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernels.h"

/* Scaled dot-product attention.  What adj-kernels.h says of kernels holds here too, and: these
 * return false, with the output in an unspecified state, when memory ran out. */

/* q [B, H, L, D], k and v [B, H, S, D], all of one type; mask is NULL or of the sizes [B, H, L, S]
 * (broadcast by strides of 0) and added to scale · q kᵀ.  A causal row i sees 0 … i.  On the CPU k
 * and v may have fewer heads, one for several consecutive ones of q. */
typedef struct
{
  AdjKView q, k, v;
  const AdjKView *mask;
  bool causal;
  double scale;
} AdjKAttention;

/* out = softmax (scale · q kᵀ + mask) v, and lse [B, H, L], the logarithm of the denominators.  A
 * row that sees nothing gives 0, and its lse is 0. */
bool adj_k_attention (const AdjKAttention *attention, const AdjKView *out, const AdjKView *lse);

/* out and lse as the forward function gave them; g is the gradient of out. */
typedef struct
{
  AdjKAttention forward;
  AdjKView g, out, lse;
  AdjKView gq, gk, gv; /* outputs */
} AdjKAttentionBackward;

bool adj_k_attention_backward (const AdjKAttentionBackward *backward);
