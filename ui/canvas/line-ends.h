/* SPDX-License-Identifier: MIT */
#pragma once

#include "scene/adj-scene.h"

G_BEGIN_DECLS

/* The edges of a scene that share one line on the screen: they begin at the same box. */

/* All edges through a bridge.  (transfer full): of guint32 */
GArray *adj_line_of_bridge (const AdjScene *scene, guint bridge);
/* Edges within @tolerance of a point.  (transfer full): of guint32; may be empty */
GArray *adj_line_at (const AdjScene *scene, AdjPoint at, float tolerance);

/**
 * adj_line_get_ends:
 * @line: of guint32
 * @n_readers: (out) (optional): how many of them are readers; makers come after these
 *
 * The nodes at both ends of the line; of closed modules only those that make or read the value.
 *
 * Returns: (transfer full): of guint32
 */
GArray *adj_line_get_ends (const AdjScene *scene,
                           const AdjGraph *graph,
                           const GArray *line,
                           guint *n_readers);

G_END_DECLS
