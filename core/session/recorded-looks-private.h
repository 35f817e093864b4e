/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-arena.h"
#include "formats/adj-bundle.h"

G_BEGIN_DECLS

/* (transfer full) (nullable): the graph of @graph; a captured backward whose first call was
 * recorded with what its inputs and the results of its hooks looked like, where it does not say so.
 */
AdjGraph *recorded_looks_apply (AdjBundle *bundle, const AdjBundleGraph *graph, GError **error);

G_END_DECLS
