/* SPDX-License-Identifier: MIT */
#pragma once

#include "ops/adj-tile-program.h"

G_BEGIN_DECLS

/* Queries of a planner about an inferred call that it runs by other means than AdjOp.kernel. */

/* Whether the kernel of @call only runs a tile program for each of its results. */
gboolean adj_op_call_is_pointwise (const AdjOpCall *call);

/* Whether its body is all that @op computes: a loss reduces what its body gives. */
gboolean adj_op_is_pointwise (const AdjOp *op);
/* The dtype that such a call computes in. */
AdjDType adj_op_call_get_compute_dtype (const AdjOpCall *call);
/* (nullable): the program for result @result, compiled at first use and then shared by all threads;
 * %NULL with the call failed. */
const AdjTileProgram *adj_op_call_get_program (const AdjOpCall *call, guint result);

/* Whether result 0 of @call is argument @arg (out), cast and broadcast to its sizes. */
gboolean adj_op_call_is_copy (const AdjOpCall *call, guint *arg);

G_END_DECLS
