/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* (transfer full) (nullable): the graph of @graph.  A captured backward without annotations gets
 * those of its recorded first call: of its inputs and of the results of its hooks. */
AdjGraph *recorded_looks_apply (AdjBundle *bundle, const AdjBundleGraph *graph, GError **error);

G_END_DECLS
