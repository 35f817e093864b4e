/* SPDX-License-Identifier: MIT */
#pragma once

#include "ir/adj-value.h"

G_BEGIN_DECLS

/* From which step to which the memory of results is held.  The steps of a graph are its nodes, in
 * order of execution. */

typedef struct
{
  guint32 owner;      /* the node in whose memory the result lies; itself where it makes some */
  guint32 first;      /* the step that makes it; 0 for inputs, which are there from the beginning */
  guint32 last;       /* of owners: the last step that reads the result, a view on it or a part */
  guint64 bytes;      /* of owners, by annotation; 0 for the others */
  guint64 in_float64; /* the same, were what is floating float64 */
} AdjLifetime;

/* Of every node.  (transfer none) (array length=n_nodes): valid as long as @graph. */
const AdjLifetime *adj_graph_get_lifetimes (const AdjGraph *graph);

/* Bytes that are held from one step to another, both included. */
typedef struct
{
  guint32 first, last; /* first <= last */
  guint64 bytes;
} AdjLiveRange;

/* Bytes held at each of @n_steps, in which all of @ranges lie; G_MAXUINT64 from the first step on
 * where they do not fit.  @peak is set to the first step with the most, 0 when there are no steps.
 * (transfer full) (array): one more than @n_steps, the last of them 0. */
guint64 *
adj_live_ranges_add_up (const AdjLiveRange *ranges, guint n_ranges, guint n_steps, guint *peak);

G_END_DECLS
