/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* The steps during which the memory of results is held.  The steps of a graph are its nodes, in
 * order of execution. */

typedef struct
{
  guint32 owner;      /* the node that owns the memory of the result; itself if it makes it */
  guint32 first;      /* the step that makes it; 0 for inputs */
  guint32 last;       /* of owners: the last step that reads the result, a view or a part of it */
  guint64 bytes;      /* of owners, by annotation; 0 for the others */
  guint64 in_float64; /* the same, if floats were float64 */
} AdjLifetime;

/* Of every node.  (transfer none) (array length=n_nodes): valid as long as @graph. */
const AdjLifetime *adj_graph_get_lifetimes (const AdjGraph *graph);

/* Bytes that are held from one step to another, both included. */
typedef struct
{
  guint32 first, last; /* first <= last */
  guint64 bytes;
} AdjLiveRange;

/* Bytes held at each of @n_steps, which contain all @ranges; on overflow G_MAXUINT64 from that step
 * on.  @peak is set to the first step with the maximum, 0 without steps. (transfer full) (array):
 * one more than @n_steps, the last of them 0. */
guint64 *
adj_live_ranges_add_up (const AdjLiveRange *ranges, guint n_ranges, guint n_steps, guint *peak);

G_END_DECLS
