/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The invariants of ir/SPEC.md §1.6: names are identifiers and unique, inputs are defined earlier,
 * placeholders come first, exactly one output and it is last, getitem indices lie within the
 * producer's results.  Called by seal; callable on its own after a pass.
 *
 * An attribute that a get_attr node names may be missing: graph text has no room for tensors. */
gboolean adj_graph_verify (const AdjGraph *graph, GError **error);

G_END_DECLS
