/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-kernel-pool.h"

#include "ops/spatial-private.h"

G_BEGIN_DECLS

/* Shared by operators that pool the last one to three dimensions. */

/* Argument @arg, with the pooled dimensions, channels and possibly a batch; %NULL after a failure.
 */
const AdjTensorMeta *pool_self (const AdjOpCall *call, guint arg);

/* Checks that argument @arg has the sizes @sizes and the rank of @like. */
gboolean
pool_check_sizes (const AdjOpCall *call, guint arg, const AdjShape *like, const AdjSize *sizes);

/* Adds a result in the memory format of argument @self. */
gboolean pool_add_like (AdjOpCall *call, guint self, AdjDType dtype, const AdjSize *sizes);

/* The gradient of argument 1. */
gboolean pool_add_gradient (AdjOpCall *call);

/* Views for kernels. */
gboolean pool_read (const AdjOpCall *call, guint arg, AdjKView *out);
gboolean pool_write (const AdjOpCall *call, guint result, AdjKView *out);

/* Maxima of argument 0, and their indices. */
gboolean pool_write_maxima (AdjOpCall *call, AdjKPool *pool);

/* Zeros with argument @values at the indices in argument @places: summed there, or with @last the
 * last one. */
gboolean pool_put_back (AdjOpCall *call, guint values, guint places, gboolean last);

G_END_DECLS
