/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Containers apart: the tree has INTs, positions in the list of leaves, where @value has leaves. */

/* Appends to @leaves (borrowed values). (transfer full) */
AdjValue aot_tree_flatten (const AdjValue *value, GArray *leaves);
/* (transfer full) */
AdjValue aot_tree_unflatten (const AdjValue *tree, const AdjValue *leaves, guint n);

G_END_DECLS
