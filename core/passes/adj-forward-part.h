/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/**
 * adj_graph_take_forward_part:
 * @joint: a joint graph
 *
 * What a joint graph computes before there is a gradient: takes its inputs but the tangents, and
 * returns the first of its results, up to one that depends on a tangent or is none.
 *
 * Returns: (transfer full) (nullable): %NULL with an error when it cannot be sealed
 */
AdjGraph *adj_graph_take_forward_part (const AdjGraph *joint, GError **error);

G_END_DECLS
