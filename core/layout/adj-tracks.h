/* SPDX-License-Identifier: MIT */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Parallel lines in a channel: each wants an interval, and those that overlap get different tracks.
 */
typedef struct
{
  float low, high;
  guint32 net;   /* intervals of one net may share a track */
  guint32 track; /* out */
} AdjTrackSpan;

/* Left edge first.  Returns how many tracks are used. */
guint adj_tracks_assign (AdjTrackSpan *spans, guint n, float distance);

/* The same, but an interval gets a track behind those of all that it overlaps and that begin before
 * it, unless that is beyond the @most-th. */
guint adj_tracks_assign_in_order (AdjTrackSpan *spans, guint n, float distance, guint most);

/**
 * adj_tracks_nearest:
 * @blocked: pairs of low and high, in any order
 *
 * Returns: the position nearest to @wanted that no pair contains
 */
float adj_tracks_nearest (const GArray *blocked, float wanted);

/* Moves @n positions, sorted ascending, apart to at least @distance, within [low, high] as far as
 * there is room. */
void adj_tracks_spread (float *positions, guint n, float distance, float low, float high);

G_END_DECLS
