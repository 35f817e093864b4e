/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

typedef enum
{
  OP_VIEW = 1 << 0,
  OP_RECOMPUTE = 1 << 1,
  OP_COMPUTE = 1 << 2,
  OP_RANDOM = 1 << 3,
  OP_SEEDED = 1 << 4,
  OP_DRAWS = 1 << 5,
  OP_CAT = 1 << 6,
  OP_LIFT = 1 << 7,
  OP_GETITEM = 1 << 8,
  OP_EFFECT = 1 << 9, /* writes, or must run exactly once */
  OP_EMPTY = 1 << 10,
  OP_RECOMPUTE_NEWER = 1 << 12, /* cheap to repeat since PyTorch 2.15 */
  OP_SHAPE_ONLY = 1 << 11,      /* reads the sizes of its argument, not the elements */
} OpTraits;

/* The traits of the operator that @node calls; 0 for placeholders, attributes and the output. */
OpTraits op_traits_of (const AdjNode *node);
/* Whether @node looks at the elements of its input @input.  @merged: (nullable): per node, the one
 * that stands for it. */
gboolean op_reads (const AdjNode *node, guint input, const guint32 *merged);

G_END_DECLS
