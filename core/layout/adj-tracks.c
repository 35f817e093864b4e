/* SPDX-License-Identifier: MIT */
/* Assigns intervals to parallel tracks so that none overlap, and spreads lines over a width. */

#include "layout/adj-tracks.h"

#include <math.h>
#include <stdlib.h>

static gint
by_low (gconstpointer a, gconstpointer b)
{
  const AdjTrackSpan *x = *(AdjTrackSpan *const *) a, *y = *(AdjTrackSpan *const *) b;

  if (x->low != y->low)
    return x->low < y->low ? -1 : 1;
  if (x->high != y->high)
    return x->high < y->high ? -1 : 1;
  return x < y ? -1 : x > y;
}

typedef struct
{
  float high;
  guint32 net;
} Track;

static gboolean
is_free (const Track *track, const AdjTrackSpan *span, float distance)
{
  return track->net == span->net || track->high + distance <= span->low;
}

/* The first free track; with @most, the first one behind all occupied tracks if possible, adding
 * tracks up to @most. */
static guint
find_track (const GArray *tracks, const AdjTrackSpan *span, float distance, guint most)
{
  guint last = tracks->len;

  while (last > 0 && is_free (&g_array_index (tracks, Track, last - 1), span, distance))
    last--;
  if (last < MAX (tracks->len, most) && most > 0)
    return last;
  for (guint t = 0; t < tracks->len; t++)
    if (is_free (&g_array_index (tracks, Track, t), span, distance))
      return t;
  return tracks->len;
}

guint
adj_tracks_assign_in_order (AdjTrackSpan *spans, guint n, float distance, guint most)
{
  g_autoptr (GPtrArray) order = g_ptr_array_sized_new (n);
  g_autoptr (GArray) tracks = g_array_new (FALSE, FALSE, sizeof (Track));

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (order, &spans[i]);
  g_ptr_array_sort (order, by_low);

  for (guint i = 0; i < n; i++)
    {
      AdjTrackSpan *span = g_ptr_array_index (order, i);
      Track *track;

      span->track = find_track (tracks, span, distance, most);
      if (span->track == tracks->len)
        {
          Track fresh = { .net = span->net, .high = span->high };

          g_array_append_val (tracks, fresh);
        }
      track = &g_array_index (tracks, Track, span->track);
      track->high = track->net == span->net ? MAX (track->high, span->high) : span->high;
      track->net = span->net;
    }
  return tracks->len;
}

guint
adj_tracks_assign (AdjTrackSpan *spans, guint n, float distance)
{
  return adj_tracks_assign_in_order (spans, n, distance, 0);
}

static gint
by_first (gconstpointer a, gconstpointer b)
{
  float x = *(const float *) a, y = *(const float *) b;

  return x < y ? -1 : x > y;
}

float
adj_tracks_nearest (const GArray *blocked, float wanted)
{
  guint n = blocked->len / 2;
  g_autofree float *pairs = g_memdup2 (blocked->data, sizeof (float) * MAX (blocked->len, 1));
  float best = wanted, best_far = G_MAXFLOAT;
  float end = -G_MAXFLOAT; /* all positions below were considered */

  qsort (pairs, n, 2 * sizeof (float), by_first);
  for (guint i = 0; i <= n; i++)
    {
      float low = end, high = i < n ? pairs[2 * i] : G_MAXFLOAT;

      if (low <= high)
        {
          float at = CLAMP (wanted, low, high);

          if (fabsf (at - wanted) < best_far)
            {
              best = at;
              best_far = fabsf (at - wanted);
            }
        }
      if (i < n)
        end = MAX (end, pairs[2 * i + 1]);
    }
  return best;
}

void
adj_tracks_spread (float *positions, guint n, float distance, float low, float high)
{
  if (n > 1 && (high - low) < distance * (float) (n - 1))
    distance = (high - low) / (float) (n - 1);
  for (guint i = 0; i < n; i++)
    {
      positions[i] = CLAMP (positions[i], low, high);
      if (i && positions[i] < positions[i - 1] + distance)
        positions[i] = positions[i - 1] + distance;
    }
  for (guint i = n; i-- > 0;)
    {
      float limit = i + 1 < n ? positions[i + 1] - distance : high;

      positions[i] = MIN (positions[i], limit);
    }
}
