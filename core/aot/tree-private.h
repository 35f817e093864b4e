/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Flattened containers: in the tree, INTs (indices of the list of leaves) replace the leaves of
 * @value. */

/* Appends the leaves to @leaves (borrowed values); returns the tree. (transfer full) */
AdjValue aot_tree_flatten (const AdjValue *value, GArray *leaves);
/* (transfer full) */
AdjValue aot_tree_unflatten (const AdjValue *tree, const AdjValue *leaves, guint n);

G_END_DECLS
