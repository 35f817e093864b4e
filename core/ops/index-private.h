/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/kernel-private.h"

G_BEGIN_DECLS

/* Fails unless @index has a dtype for indices. */
gboolean op_check_index (const AdjOpCall *call, const AdjTensorMeta *index);

/* Copies argument 0 to the first result, of which @out is a view. */
gboolean op_copy_self (const AdjOpCall *call, AdjKView *out);

/* Maximal number of terms of one element's sum: itself and what is added to it. */
double op_source_reduction (const AdjOpCall *call);

G_END_DECLS
