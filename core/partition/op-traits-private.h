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
/* The bit of the result that @node takes of a call; of any other node, all. */
guint op_result_bit (const AdjNode *node);
/* The results of the call @node that depend on the elements of its input @input, a bit each;
 * G_MAXUINT: all.  @merged: (nullable): per node, the one that stands for it. */
guint op_results_of (const AdjNode *node, guint input, const guint32 *merged);
/* Calls that a search for readers looks through, one behind the other; what is further counts as
 * read. */
#define OP_MAX_CALLS 64

G_END_DECLS
