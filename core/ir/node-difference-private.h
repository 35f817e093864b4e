/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The matching of nodes of two graphs. */
typedef struct
{
  const AdjGraph *a, *b;
  guint32 *to_a; /* per node of b */
  guint32 *to_b; /* per node of a */
} NodePairs;

/* Whether the targets are equal. That of a placeholder is its name and that of a RAW node its text.
 */
gboolean node_same_target (const AdjNode *a, const AdjNode *b);
/* Compares what an annotation shows. Something known of one side only is no difference. */
gboolean
node_pairs_same_meta (const NodePairs *pair, const AdjTensorMeta *a, const AdjTensorMeta *b);
gboolean node_pairs_same_annotation (const NodePairs *pair, const AdjValue *a, const AdjValue *b);
/* Two nodes are equal if they are matched. */
gboolean node_pairs_same_value (const NodePairs *pair, const AdjValue *a, const AdjValue *b);
/* (nullable): the first thing that differs: "target", "args" … */
const char *node_pairs_find_difference (const NodePairs *pair, const AdjNode *a, const AdjNode *b);

G_END_DECLS
