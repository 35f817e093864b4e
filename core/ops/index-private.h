/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Fails unless @index may hold indices. */
gboolean op_check_index (const AdjOpCall *call, const AdjTensorMeta *index);

/* The first result begins as argument 0: @out views it. */
gboolean op_copy_self (const AdjOpCall *call, AdjKView *out);

/* How many terms one element may be the sum of: it, and what is written to it. */
double op_source_reduction (const AdjOpCall *call);

G_END_DECLS
