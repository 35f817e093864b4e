/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-macros.h"

G_BEGIN_DECLS

/* How the text of the graph begins and ends (ir/SPEC.md §5.3); carries no meaning. */
typedef enum
{
  ADJ_HEADER_PLAIN,
  ADJ_HEADER_PYTREE, /* def forward(self, primals, tangents): … tree_flatten_spec, tree_unflatten */
} AdjHeader;

G_END_DECLS
