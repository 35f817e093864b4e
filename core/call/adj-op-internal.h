/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-op.h"

G_BEGIN_DECLS

void adj_op_call_clear (AdjOpCall *call);

/* Whether it is %TRUE or an INT other than 0; for entries of bool[3]. */
gboolean adj_op_value_is_true (const AdjValue *value);

/* The dtype that PyTorch gives a tensor made of a number; NONE: it is no FLOAT, INT or BOOL. */
AdjDType adj_op_number_dtype (const AdjValue *number);

/* Bytes from the start of the storage to the end of a tensor with integer sizes; G_MAXSIZE on
 * overflow. */
gsize adj_op_extent (const AdjTensorMeta *meta);
/* Bytes of memory that the machine has. */
guint64 adj_op_memory (void);
/* %FALSE with the call failed when a result of @meta needs more bytes than there is memory. */
gboolean adj_op_call_check_memory (const AdjOpCall *call, const AdjTensorMeta *meta, gsize n_bytes);

/* Whether the kernel of an allocated call must run: a result has elements in memory of its own, or
 * arguments are written and nothing is returned. */
gboolean adj_op_call_needs_kernel (const AdjOpCall *call);

/* Runs the kernel of an allocated call; one that works by parts runs on each part of complex
 * numbers (run-kernel.c). */
gboolean adj_op_call_run_kernel (AdjOpCall *call);

G_END_DECLS
