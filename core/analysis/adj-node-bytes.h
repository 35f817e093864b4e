/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The size of the results of a node, by their annotations; a view counts its elements. */

typedef struct
{
  guint64 bytes;      /* of the tensors of known size, symbolic sizes by their hints; at most
                         G_MAXUINT64 */
  guint64 in_float64; /* the same, if floats were float64 */
  guint64 elements;   /* bytes of one element of each tensor of unknown size */
  guint n_tensors;
  guint n_unknown; /* number of these: tensors whose size depends on data */
  guint n_numbers; /* sizes, integers, bools and floats */
} AdjNodeBytes;

/* Of every node.  (transfer none) (array length=n_nodes): valid as long as @graph. */
const AdjNodeBytes *adj_graph_get_bytes (const AdjGraph *graph);

/* Of node @index; -1 if the size of none of its tensors is known. */
gint64 adj_graph_get_node_bytes (const AdjGraph *graph, guint index);

/* Adds @bytes to @sum, saturating at G_MAXUINT64. */
void adj_bytes_add (guint64 *sum, guint64 bytes);

G_END_DECLS
