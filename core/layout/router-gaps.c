/* SPDX-License-Identifier: MIT */
/* Block routing, gaps: horizontal pieces get tracks, and ranks are stacked as high as their
 * tracks need. */

#include <math.h>

#include "layout/adj-tracks.h"
#include "layout/router-private.h"

#define TRACK_DISTANCE 8.0f
#define GAP_MARGIN 8.0f /* between cards and the nearest track */
#define MIN_GAP 20.0f   /* between ranks */
#define END_GAP 10.0f   /* beyond the first and last rank, when something passes there */

/* A horizontal piece in the gap above rank @gap (below the last one for n_ranks). */
typedef struct
{
  gint32 gap;
  AdjTrackSpan span;
} Jog;

static void
add_jog (BlockRouter *self, gint32 gap, float a, float b, guint32 net)
{
  Jog jog = { gap, { MIN (a, b), MAX (a, b), net, 0 } };

  if (fabsf (a - b) > ROUTER_STRAIGHT)
    g_array_append_val (self->jogs, jog);
}

static void
add_link_jogs (BlockRouter *self)
{
  for (guint32 k = 0; k < self->spec->n_lines; k++)
    {
      gint32 first = self->at->ranks[self->graph->links[k][0]] + 1;
      gint32 last = self->at->ranks[self->graph->links[k][1]];

      for (gint32 gap = first; gap <= last; gap++)
        {
          float upper, lower;

          router_get_ends (self, k, gap, &upper, &lower);
          add_jog (self, gap, upper, lower, self->graph->links[k][0]);
        }
    }
}

static void
add_pin_jogs (BlockRouter *self, float left, float right)
{
  for (guint p = 0; p < self->spec->n_pins; p++)
    {
      guint32 card = self->spec->pins[p].card;

      if (router_is_hidden (self, card))
        add_jog (self, router_get_gap_of_pin (self, card), router_get_stub (self, p),
                 self->spec->upwards ? left - 1 : right + 1,
                 adj_block_graph_n_nodes (self->graph) + p);
    }
}

static void
stack_ranks (BlockRouter *self)
{
  gint32 n = self->at->n_ranks;
  float y = 0;

  for (gint32 gap = 0; gap <= n; gap++)
    {
      g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (AdjTrackSpan));
      gboolean end = gap == 0 || gap == n;
      gboolean used = gap == 0 ? self->graph->n_entries > 0 : self->graph->n_exits > 0;
      guint tracks, at = 0;
      float height;

      for (guint i = 0; i < self->jogs->len; i++)
        if (g_array_index (self->jogs, Jog, i).gap == gap)
          g_array_append_val (spans, g_array_index (self->jogs, Jog, i).span);
      tracks =
          adj_tracks_assign ((AdjTrackSpan *) (gpointer) spans->data, spans->len, TRACK_DISTANCE);
      for (guint i = 0; i < self->jogs->len; i++)
        if (g_array_index (self->jogs, Jog, i).gap == gap)
          g_array_index (self->jogs, Jog, i).span.track =
              g_array_index (spans, AdjTrackSpan, at++).track;

      height = tracks ? 2 * GAP_MARGIN + TRACK_DISTANCE * (float) (tracks - 1) : 0;
      height = MAX (height, end ? (used ? END_GAP : 0) : MIN_GAP);
      self->gap_top[gap] = y;
      self->track_step[gap] = tracks ? (height - 2 * GAP_MARGIN) / MAX ((float) tracks - 1, 1) : 0;
      if (tracks == 1)
        self->track_step[gap] = 0;
      y += height;
      self->rank_top[gap] = y;
      if (gap < n)
        y += self->rank_height[gap];
    }
  self->template->height = y;
}

void
router_stack (BlockRouter *self, float left, float right)
{
  self->jogs = g_array_new (FALSE, FALSE, sizeof (Jog));
  add_link_jogs (self);
  add_pin_jogs (self, left, right);
  stack_ranks (self);
}

float
router_get_track (const BlockRouter *self, gint32 gap, float a, float b, guint32 net)
{
  for (guint i = 0; i < self->jogs->len; i++)
    {
      const Jog *jog = &g_array_index (self->jogs, Jog, i);

      if (jog->gap == gap && jog->span.net == net && jog->span.low == MIN (a, b) &&
          jog->span.high == MAX (a, b))
        {
          float height = self->rank_top[gap] - self->gap_top[gap];

          return self->track_step[gap] == 0 ? self->gap_top[gap] + height / 2
                                            : self->gap_top[gap] + GAP_MARGIN +
                                                  self->track_step[gap] * (float) jog->span.track;
        }
    }
  return self->rank_top[gap];
}
