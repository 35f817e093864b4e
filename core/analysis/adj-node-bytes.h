/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* How large the results of a node are, by their annotations: dense, views as their elements. */

typedef struct
{
  guint64 bytes;      /* of the tensors of known size, symbolic sizes by their hints; at most
                         G_MAXUINT64 */
  guint64 in_float64; /* the same, were what is floating float64 */
  guint64 elements;   /* bytes of one element of each tensor of unknown size */
  guint n_tensors;
  guint n_unknown; /* of them: those whose size depends on their values */
  guint n_numbers; /* sizes, integers, bools and floats */
} AdjNodeBytes;

/* Of every node.  (transfer none) (array length=n_nodes): valid as long as @graph. */
const AdjNodeBytes *adj_graph_get_bytes (const AdjGraph *graph);

/* Of node @index; -1 where the size of no tensor of it is known. */
gint64 adj_graph_get_node_bytes (const AdjGraph *graph, guint index);

/* Adds @bytes to @sum, which stays at G_MAXUINT64 where they do not fit. */
void adj_bytes_add (guint64 *sum, guint64 bytes);

G_END_DECLS
