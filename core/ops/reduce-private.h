/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Shared by reductions (reduce.c); arguments are found by name. */

/* The reduced dimensions, as bits. */
guint32 op_reduced_dims (const AdjOpCall *call);
AdjDType op_reduced_dtype (const AdjOpCall *call, AdjDType if_none);
AdjDType op_self_dtype (const AdjOpCall *call);

/* Adds a result without the reduced dimensions, or with size 1 there. */
gboolean op_add_reduced (AdjOpCall *call, AdjDType dtype);
gboolean op_sum_meta (AdjOpCall *call);
gboolean op_reduce_float_meta (AdjOpCall *call);
/* Fails if a reduced dimension is empty, so that there is no extremum. */
gboolean op_check_reducible (const AdjOpCall *call);

/* Gives @out the rank of @in, with size 1 in reduced dimensions, as kernels expect. */
void op_put_dims_back (const AdjKView *in, guint32 dims, AdjKView *out);
/* The input, cast into @memory if the result has another dtype than the kernel's sum. */
gboolean op_read_reduced (const AdjOpCall *call, AdjKType type, AdjKView *in, gpointer *memory);

/* For complex numbers (reduce-parts.c). */
gboolean op_prod_parts (AdjOpCall *call);
gboolean op_cumprod_parts (AdjOpCall *call);

double op_reduce_reduction (const AdjOpCall *call);
double op_reduce_flops (const AdjOpCall *call);

G_END_DECLS
