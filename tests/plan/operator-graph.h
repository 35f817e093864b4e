/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"
#include "support/oracle.h"

G_BEGIN_DECLS

/* (transfer full): a graph of the call of @c; @inputs gets the values of its placeholders. @fed:
 * floating-point tensors pass through a pointwise call first. */
AdjGraph *operator_graph_new (const OracleCase *c, gboolean fed, GArray *inputs);
/* (transfer full): the recorded generator state of @c, which draws random numbers. */
AdjValue operator_graph_seed (const OracleCase *c);

G_END_DECLS
