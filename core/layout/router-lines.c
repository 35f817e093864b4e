/* SPDX-License-Identifier: MIT */
/* Block routing, lines: where lines pass each rank, arrive at cards and leave the block. */

#include <math.h>

#include "layout/adj-tracks.h"
#include "layout/router-private.h"

#define PORT_MARGIN 12.0f /* of lines from the corners of a card */
#define PORT_DISTANCE 14.0f
#define CLEAR 9.0f /* of a passing line from cards */
#define APART 8.0f /* of passing lines from each other */

typedef struct
{
  float x;
  guint32 net;
} Passing;

/* The intervals that a line of @net cannot pass at @rank. */
static GArray *
blocked_at (const BlockRouter *self, gint32 rank, guint32 net)
{
  GArray *blocked = g_array_new (FALSE, FALSE, sizeof (float));
  const GArray *passing = g_ptr_array_index (self->passing, rank);

  for (guint32 i = 0; i < self->graph->n_cards; i++)
    if (self->at->ranks[i] == rank)
      {
        float pair[2] = { router_get_left (self, i) - CLEAR, router_get_right (self, i) + CLEAR };

        g_array_append_vals (blocked, pair, 2);
      }
  for (guint i = 0; i < passing->len; i++)
    {
      const Passing *p = &g_array_index (passing, Passing, i);
      float pair[2] = { p->x - APART, p->x + APART };

      if (p->net != net)
        g_array_append_vals (blocked, pair, 2);
    }
  return blocked;
}

/* Passing lines go straight on where they can, and never through a card or another line. */
static void
straighten_link (BlockRouter *self, guint32 k)
{
  guint32 from = self->graph->links[k][0];
  gint32 rank = self->at->ranks[from] + 1;
  float x = self->at->x[from];

  for (guint32 v = self->at->first[k]; v < self->at->first[k + 1]; v++, rank++)
    {
      g_autoptr (GArray) blocked = blocked_at (self, rank, from);
      float on = adj_tracks_nearest (blocked, x);
      Passing passing;

      if (fabsf (on - x) > ROUTER_STRAIGHT)
        on = adj_tracks_nearest (blocked, self->at->via[v]);
      self->at->via[v] = x = on;
      passing = (Passing){ on, from };
      g_array_append_val (g_ptr_array_index (self->passing, rank), passing);
    }
}

/* The x at which link @k enters the gap before its end. */
static float
last_x (const BlockRouter *self, guint32 k)
{
  return self->at->first[k + 1] > self->at->first[k] ? self->at->via[self->at->first[k + 1] - 1]
                                                     : self->at->x[self->graph->links[k][0]];
}

typedef struct
{
  float x;
  guint32 link;
} Arrival;

static gint
by_x (gconstpointer a, gconstpointer b)
{
  const Arrival *p = a, *q = b;

  if (p->x != q->x)
    return p->x < q->x ? -1 : 1;
  return p->link < q->link ? -1 : p->link > q->link;
}

/* Lines end as straight as the width of the card allows, a little apart. */
static void
place_arrivals (BlockRouter *self, guint32 node)
{
  g_autoptr (GArray) arrivals = g_array_new (FALSE, FALSE, sizeof (Arrival));
  float half = self->spec->cards[node].width / 2 - PORT_MARGIN;
  g_autofree float *x = NULL;

  for (guint32 k = 0; k < self->spec->n_lines; k++)
    if (self->graph->links[k][1] == node)
      {
        Arrival arrival = { last_x (self, k), k };

        g_array_append_val (arrivals, arrival);
      }
  g_array_sort (arrivals, by_x);
  x = g_new0 (float, MAX (arrivals->len, 1));
  for (guint i = 0; i < arrivals->len; i++)
    x[i] = g_array_index (arrivals, Arrival, i).x;
  adj_tracks_spread (x, arrivals->len, PORT_DISTANCE, self->at->x[node] - half,
                     self->at->x[node] + half);
  for (guint i = 0; i < arrivals->len; i++)
    self->in[g_array_index (arrivals, Arrival, i).link] = x[i];
}

/* Places the ends at the block's border: exits where their lines arrive, entries above the cards
 * that read them. */
static void
place_ports (BlockRouter *self)
{
  const AdjBlockGraph *g = self->graph;
  guint32 first = g->n_cards, n = g->n_entries;
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (Arrival));

  for (guint32 k = 0; k < self->spec->n_lines; k++)
    if (g->links[k][1] >= g->n_cards + g->n_entries)
      {
        Arrival arrival = { last_x (self, k), k };

        g_array_append_val (order, arrival);
      }
  g_array_sort (order, by_x);
  for (guint i = 0; i < order->len; i++)
    {
      const Arrival *a = &g_array_index (order, Arrival, i);
      float x = i ? MAX (a->x, self->in[g_array_index (order, Arrival, i - 1).link] + APART) : a->x;

      self->in[a->link] = x;
      self->at->x[g->links[a->link][1]] = x;
    }

  g_array_set_size (order, 0);
  for (guint32 i = 0; i < n; i++)
    {
      Arrival arrival = { self->at->x[first + i], first + i };

      g_array_append_val (order, arrival);
    }
  g_array_sort (order, by_x);
  for (guint i = 1; i < order->len; i++)
    {
      guint32 now = g_array_index (order, Arrival, i).link;
      guint32 before = g_array_index (order, Arrival, i - 1).link;

      self->at->x[now] = MAX (self->at->x[now], self->at->x[before] + APART);
    }
}

/* Moves entries straight above their first card where that is in the first rank. */
static void
pull_entries (BlockRouter *self)
{
  const AdjBlockGraph *g = self->graph;

  for (guint32 k = self->spec->n_lines; k-- > 0;)
    {
      guint32 from = g->links[k][0], to = g->links[k][1];

      if (!router_is_card (self, from) && router_is_card (self, to) && self->at->ranks[to] == 0)
        {
          float half = self->spec->cards[to].width / 2 - PORT_MARGIN;
          float middle = self->at->x[to];

          self->at->x[from] = CLAMP (self->at->x[from], middle - half, middle + half);
        }
    }
}

void
router_run_lines (BlockRouter *self)
{
  gint32 n = self->at->n_ranks;

  self->passing = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (gint32 r = 0; r < n; r++)
    g_ptr_array_add (self->passing, g_array_new (FALSE, FALSE, sizeof (Passing)));
  pull_entries (self);
  for (guint32 k = 0; k < self->spec->n_lines; k++)
    straighten_link (self, k);
  for (guint32 i = 0; i < self->graph->n_cards; i++)
    place_arrivals (self, i);
  place_ports (self);
}
