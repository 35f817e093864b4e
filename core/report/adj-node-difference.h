/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-compare.h"

G_BEGIN_DECLS

/**
 * adj_node_difference:
 * @change: of an alignment of @a with @b
 * @b_of_a: for each node of @a the node of @b that is laid beside it; G_MAXUINT32: none
 *
 * Describes how two nodes differ, the call first: "approximate: 'tanh' → 'none'", "gelu → relu", or
 * what is only on one side.
 *
 * Returns: (transfer full): "" when they are the same
 */
char *adj_node_difference (const AdjGraph *a,
                           const AdjGraph *b,
                           const AdjChange *change,
                           const guint32 *b_of_a);

G_END_DECLS
