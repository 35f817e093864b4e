/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* What reductions share (reduce.c): arguments are found by name. */

/* The dimensions that go, as bits. */
guint32 op_reduced_dims (const AdjOpCall *call);
AdjDType op_reduced_dtype (const AdjOpCall *call, AdjDType if_none);
AdjDType op_self_dtype (const AdjOpCall *call);

/* Adds a result without the reduced dimensions, or with size 1 there. */
gboolean op_add_reduced (AdjOpCall *call, AdjDType dtype);
gboolean op_sum_meta (AdjOpCall *call);
gboolean op_reduce_float_meta (AdjOpCall *call);
/* Fails where a reduced dimension has no elements: then there is no largest one. */
gboolean op_check_reducible (const AdjOpCall *call);

/* @out as the kernels want it: the rank of @in, size 1 in the reduced dimensions. */
void op_put_dims_back (const AdjKView *in, guint32 dims, AdjKView *out);
/* Input, cast first into @memory when the result has another dtype than the kernel would sum in. */
gboolean op_read_reduced (const AdjOpCall *call, AdjKType type, AdjKView *in, gpointer *memory);

/* Of complex numbers (reduce-parts.c). */
gboolean op_prod_parts (AdjOpCall *call);
gboolean op_cumprod_parts (AdjOpCall *call);

double op_reduce_reduction (const AdjOpCall *call);
double op_reduce_flops (const AdjOpCall *call);

G_END_DECLS
