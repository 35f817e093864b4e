/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Shared by the forms of attention: query, key and value are consecutive arguments, and query has
 * that name. */

/* Fails the call unless query [B, H, L, D], key [B, H, S, D] and value [B, H, S, E] fit. */
gboolean op_attention_check (const AdjOpCall *call, guint query);

/* A result with the first @rank sizes of @like, 3 or 4, whose memory order is 0, 2, 1, 3, as
 * PyTorch's kernels write it. */
void op_attention_add_swapped (AdjOpCall *call, AdjDType dtype, const AdjSize *like, guint rank);

double op_attention_flops (const AdjOpCall *call);
double op_attention_backward_flops (const AdjOpCall *call);
/* A sum over S of sums over D. */
double op_attention_reduction (const AdjOpCall *call);

G_END_DECLS
