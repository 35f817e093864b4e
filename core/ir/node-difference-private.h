/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Which nodes of two graphs stand for each other. */
typedef struct
{
  const AdjGraph *a, *b;
  guint32 *to_a; /* per node of b */
  guint32 *to_b; /* per node of a */
} NodePairs;

/* A placeholder's target is its name; the text of a statement that we could not read too. */
gboolean node_same_target (const AdjNode *a, const AdjNode *b);
/* Compares what an annotation shows. Something known of one side only is no difference. */
gboolean
node_pairs_same_meta (const NodePairs *pair, const AdjTensorMeta *a, const AdjTensorMeta *b);
gboolean node_pairs_same_annotation (const NodePairs *pair, const AdjValue *a, const AdjValue *b);
/* Nodes are the same that stand for each other. */
gboolean node_pairs_same_value (const NodePairs *pair, const AdjValue *a, const AdjValue *b);
/* (nullable): the first thing that differs: "target", "args" … */
const char *node_pairs_find_difference (const NodePairs *pair, const AdjNode *a, const AdjNode *b);

G_END_DECLS
