/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

void adj_op_call_clear (AdjOpCall *call);

/* BOOL or INT that is not 0; for entries of bool[3]. */
gboolean adj_op_value_is_true (const AdjValue *value);

/* Bytes from the start of the storage to the end of a tensor with integer sizes; G_MAXSIZE when
 * they cannot be counted. */
gsize adj_op_extent (const AdjTensorMeta *meta);
/* %FALSE with the call failed when so many bytes, for a result of @meta, are more than there are.
 */
gboolean adj_op_call_check_memory (const AdjOpCall *call, const AdjTensorMeta *meta, gsize n_bytes);

/* Evaluates the `.decompose` rule (core/rules); @result (out) (transfer full). */
gboolean adj_op_call_decompose (AdjOpCall *call, AdjValue *result);

/* Whether it writes a list of tensors one of which may show what another reads or writes. */
gboolean adj_op_call_is_entangled (const AdjOpCall *call);
/* What it does with each element, one after the other, as PyTorch's kernels do it. */
gboolean adj_op_call_in_turn (AdjOpCall *call);

G_END_DECLS
