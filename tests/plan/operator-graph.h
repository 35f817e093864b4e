/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "support/oracle.h"

G_BEGIN_DECLS

/* (transfer full): a graph of the call of @c; @inputs gets what its placeholders stand for.
 * @fed: floating tensors come to it from a pointwise call. */
AdjGraph *operator_graph_new (const OracleCase *c, gboolean fed, GArray *inputs);
/* (transfer full): the generator of @c, which draws, as a recording has it. */
AdjValue operator_graph_seed (const OracleCase *c);

G_END_DECLS
