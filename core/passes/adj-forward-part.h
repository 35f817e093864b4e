/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * adj_graph_take_forward_part:
 * @joint: a joint graph
 *
 * The forward of a joint graph: takes its inputs except the tangents, and returns its first
 * results, before those that depend on a tangent or are None.
 *
 * Returns: (transfer full) (nullable): %NULL with an error when it cannot be sealed
 */
AdjGraph *adj_graph_take_forward_part (const AdjGraph *joint, GError **error);

G_END_DECLS
