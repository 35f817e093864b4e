/* SPDX-License-Identifier: MIT */
#include "layout/adj-stamp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layout/adj-tracks.h"

#define TRACK_DISTANCE 8.0f
#define GAP_MARGIN 8.0f   /* between cards and the nearest track */
#define MIN_GAP 20.0f     /* between ranks */
#define END_GAP 10.0f     /* beyond the first and last rank, when something passes there */
#define PORT_MARGIN 12.0f /* of lines from the corners of a card */
#define PORT_DISTANCE 14.0f
#define CLEAR 9.0f /* of a passing line from cards */
#define APART 8.0f /* of passing lines from each other */
#define STUB 9.0f  /* how far a line goes out sideways before it turns */
#define STRAIGHT 0.5f

AdjStampOrder *
adj_stamp_order_new (
    guint32 n_cards, guint32 n_entries, guint32 n_exits, guint32 n_links, guint n_pins)
{
  AdjStampOrder *order = g_new0 (AdjStampOrder, 1);

  order->graph = adj_block_graph_new (n_cards, n_entries, n_exits, n_links);
  order->n_lines = n_links;
  order->cards = g_new0 (AdjStampCard, MAX (n_cards, 1));
  order->n_pins = n_pins;
  order->pins = g_new0 (AdjStampPin, MAX (n_pins, 1));
  return order;
}

void
adj_stamp_order_free (AdjStampOrder *order)
{
  adj_block_graph_free (order->graph);
  g_free (order->cards);
  g_free (order->pins);
  g_free (order);
}

char *
adj_stamp_order_get_key (const AdjStampOrder *order)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GBytes) graph = adj_block_graph_to_bytes (order->graph);
  guint32 head[3] = { order->upwards != 0, order->n_pins, order->n_lines };

  g_checksum_update (sum, (const guint8 *) head, sizeof head);
  g_checksum_update (sum, g_bytes_get_data (graph, NULL), (gssize) g_bytes_get_size (graph));
  g_checksum_update (sum, (const guint8 *) order->cards,
                     (gssize) (sizeof (AdjStampCard) * order->graph->n_cards));
  g_checksum_update (sum, (const guint8 *) order->pins,
                     (gssize) (sizeof (AdjStampPin) * order->n_pins));
  return g_strdup (g_checksum_get_string (sum));
}

/* A horizontal piece in the gap above rank @gap (below the last one for n_ranks). */
typedef struct
{
  gint32 gap;
  AdjTrackSpan span;
} Jog;

typedef struct
{
  const AdjStampOrder *order;
  const AdjBlockGraph *graph;
  AdjPlacement *at; /* a copy that is straightened */
  AdjStamp *stamp;
  float *in;       /* x where each link ends */
  GArray *jogs;    /* of Jog */
  float *rank_top; /* y of each rank, and of the end */
  float *rank_height;
  float *gap_top;
  float *track_step;  /* of each gap */
  GPtrArray *passing; /* GArray of (x, link's source) by rank */
} Press;

typedef struct
{
  float x;
  guint32 net;
} Passing;

static gboolean
is_card (const Press *self, guint32 node)
{
  return node < self->graph->n_cards;
}

static float
card_x (const Press *self, guint32 node)
{
  return self->at->x[node];
}

/* The ends of a card with its chips; of a port, its place. */
static float
left_of (const Press *self, guint32 node)
{
  const AdjStampCard *card = &self->order->cards[node];

  return is_card (self, node) ? card_x (self, node) - card->width / 2 - card->left
                              : self->at->x[node];
}

static float
right_of (const Press *self, guint32 node)
{
  const AdjStampCard *card = &self->order->cards[node];

  return is_card (self, node) ? card_x (self, node) + card->width / 2 + card->right
                              : self->at->x[node];
}

static float
out_x (const Press *self, guint32 node)
{
  return is_card (self, node) ? card_x (self, node) : self->at->x[node];
}

/* What a line of @net cannot pass through at @rank. */
static GArray *
blocked_at (const Press *self, gint32 rank, guint32 net)
{
  GArray *blocked = g_array_new (FALSE, FALSE, sizeof (float));
  const GArray *passing = g_ptr_array_index (self->passing, rank);

  for (guint32 i = 0; i < self->graph->n_cards; i++)
    if (self->at->ranks[i] == rank)
      {
        float pair[2] = { left_of (self, i) - CLEAR, right_of (self, i) + CLEAR };

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
straighten_link (Press *self, guint32 k)
{
  guint32 from = self->graph->links[k][0];
  gint32 rank = self->at->ranks[from] + 1;
  float x = out_x (self, from);

  for (guint32 v = self->at->first[k]; v < self->at->first[k + 1]; v++, rank++)
    {
      g_autoptr (GArray) blocked = blocked_at (self, rank, from);
      float on = adj_tracks_nearest (blocked, x);
      Passing passing;

      if (fabsf (on - x) > STRAIGHT)
        on = adj_tracks_nearest (blocked, self->at->via[v]);
      self->at->via[v] = x = on;
      passing = (Passing){ on, from };
      g_array_append_val (g_ptr_array_index (self->passing, rank), passing);
    }
}

/* Where link @k comes from in the gap before its end. */
static float
last_x (const Press *self, guint32 k)
{
  return self->at->first[k + 1] > self->at->first[k] ? self->at->via[self->at->first[k + 1] - 1]
                                                     : out_x (self, self->graph->links[k][0]);
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
place_arrivals (Press *self, guint32 node)
{
  g_autoptr (GArray) arrivals = g_array_new (FALSE, FALSE, sizeof (Arrival));
  float half = self->order->cards[node].width / 2 - PORT_MARGIN;
  g_autofree float *x = NULL;

  for (guint32 k = 0; k < self->order->n_lines; k++)
    if (self->graph->links[k][1] == node)
      {
        Arrival arrival = { last_x (self, k), k };

        g_array_append_val (arrivals, arrival);
      }
  g_array_sort (arrivals, by_x);
  x = g_new0 (float, MAX (arrivals->len, 1));
  for (guint i = 0; i < arrivals->len; i++)
    x[i] = g_array_index (arrivals, Arrival, i).x;
  adj_tracks_spread (x, arrivals->len, PORT_DISTANCE, card_x (self, node) - half,
                     card_x (self, node) + half);
  for (guint i = 0; i < arrivals->len; i++)
    self->in[g_array_index (arrivals, Arrival, i).link] = x[i];
}

/* Lines leave the block where they come down; entries stand above where they are wanted. */
static void
place_ports (Press *self)
{
  const AdjBlockGraph *g = self->graph;
  guint32 first = g->n_cards, n = g->n_entries;
  g_autoptr (GArray) order = g_array_new (FALSE, FALSE, sizeof (Arrival));

  for (guint32 k = 0; k < self->order->n_lines; k++)
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

/* Entries stand straight above the first card that wants them, when it is in the first rank. */
static void
pull_entries (Press *self)
{
  const AdjBlockGraph *g = self->graph;

  for (guint32 k = self->order->n_lines; k-- > 0;)
    {
      guint32 from = g->links[k][0], to = g->links[k][1];

      if (!is_card (self, from) && is_card (self, to) && self->at->ranks[to] == 0)
        {
          float half = self->order->cards[to].width / 2 - PORT_MARGIN;
          float middle = card_x (self, to);

          self->at->x[from] = CLAMP (self->at->x[from], middle - half, middle + half);
        }
    }
}

static void
add_jog (Press *self, gint32 gap, float a, float b, guint32 net)
{
  Jog jog = { gap, { MIN (a, b), MAX (a, b), net, 0 } };

  if (fabsf (a - b) > STRAIGHT)
    g_array_append_val (self->jogs, jog);
}

/* The x at the upper and lower end of gap @gap of link @k. */
static void
ends_in_gap (const Press *self, guint32 k, gint32 gap, float *upper, float *lower)
{
  gint32 first = self->at->ranks[self->graph->links[k][0]] + 1;
  gint32 last = self->at->ranks[self->graph->links[k][1]];
  guint32 via = self->at->first[k];

  *upper = gap == first ? out_x (self, self->graph->links[k][0])
                        : self->at->via[via + (guint32) (gap - first) - 1];
  *lower = gap == last ? self->in[k] : self->at->via[via + (guint32) (gap - first)];
}

static void
add_link_jogs (Press *self)
{
  for (guint32 k = 0; k < self->order->n_lines; k++)
    {
      gint32 first = self->at->ranks[self->graph->links[k][0]] + 1;
      gint32 last = self->at->ranks[self->graph->links[k][1]];

      for (gint32 gap = first; gap <= last; gap++)
        {
          float upper, lower;

          ends_in_gap (self, k, gap, &upper, &lower);
          add_jog (self, gap, upper, lower, self->graph->links[k][0]);
        }
    }
}

/* Whether another card stands between this one and the gutter. */
static gboolean
is_hidden (const Press *self, guint32 card)
{
  for (guint32 i = 0; i < self->graph->n_cards; i++)
    if (i != card && self->at->ranks[i] == self->at->ranks[card] &&
        (self->order->upwards ? self->at->x[i] < self->at->x[card]
                              : self->at->x[i] > self->at->x[card]))
      return TRUE;
  return FALSE;
}

static float
gutter_side (const Press *self, guint32 card)
{
  return self->order->upwards ? left_of (self, card) : right_of (self, card);
}

/* Pins of hidden cards run through the gap before them; nets above the links' numbers. */
static gint32
gap_of_pin (const Press *self, guint32 card)
{
  return self->at->ranks[card] + (self->order->upwards ? 0 : 1);
}

static float
stub_x (const Press *self, guint p)
{
  guint32 card = self->order->pins[p].card;
  float side = gutter_side (self, card);
  float more = fabsf (self->order->pins[p].offset) / 3;

  return self->order->upwards ? side - STUB - more : side + STUB + more;
}

static void
find_extent (const Press *self, float *left, float *right)
{
  *left = G_MAXFLOAT;
  *right = -G_MAXFLOAT;
  for (guint32 i = 0; i < adj_block_graph_n_nodes (self->graph); i++)
    {
      *left = MIN (*left, left_of (self, i));
      *right = MAX (*right, right_of (self, i));
    }
  for (guint32 v = 0; v < self->at->first[self->order->n_lines]; v++)
    {
      *left = MIN (*left, self->at->via[v]);
      *right = MAX (*right, self->at->via[v]);
    }
  for (guint p = 0; p < self->order->n_pins; p++)
    if (is_hidden (self, self->order->pins[p].card))
      {
        *left = MIN (*left, stub_x (self, p));
        *right = MAX (*right, stub_x (self, p));
      }
  if (*left > *right)
    *left = *right = 0;
}

static void
add_pin_jogs (Press *self, float left, float right)
{
  for (guint p = 0; p < self->order->n_pins; p++)
    {
      guint32 card = self->order->pins[p].card;

      if (is_hidden (self, card))
        add_jog (self, gap_of_pin (self, card), stub_x (self, p),
                 self->order->upwards ? left - 1 : right + 1,
                 adj_block_graph_n_nodes (self->graph) + p);
    }
}

/* Gives every gap its tracks and height, and every rank its place. */
static void
stack_ranks (Press *self)
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
  self->stamp->height = y;
}

static float
jog_y (const Press *self, gint32 gap, float a, float b, guint32 net)
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

static void
add_point (Press *self, AdjStampPath *path, float x, float y)
{
  AdjPoint point = { x, y };
  AdjPoint *points = (AdjPoint *) (gpointer) self->stamp->points->data + path->first;

  if (path->n > 1 && points[path->n - 1].x == x && points[path->n - 2].x == x)
    points[path->n - 1].y = y;
  else
    {
      g_array_append_val (self->stamp->points, point);
      path->n++;
    }
}

static float
card_top (const Press *self, guint32 card)
{
  gint32 rank = self->at->ranks[card];

  return self->rank_top[rank] + (self->rank_height[rank] - self->order->cards[card].height) / 2;
}

static void
draw_link (Press *self, guint32 k)
{
  guint32 from = self->graph->links[k][0], to = self->graph->links[k][1];
  gint32 first = self->at->ranks[from] + 1, last = self->at->ranks[to];
  AdjStampPath *path = &self->stamp->links[k];
  float y = is_card (self, from) ? card_top (self, from) + self->order->cards[from].height
                                 : self->gap_top[0];

  path->first = self->stamp->points->len;
  add_point (self, path, out_x (self, from), y);
  for (gint32 gap = first; gap <= last; gap++)
    {
      float upper, lower;

      ends_in_gap (self, k, gap, &upper, &lower);
      if (fabsf (upper - lower) > STRAIGHT)
        {
          y = jog_y (self, gap, upper, lower, from);
          add_point (self, path, upper, y);
          add_point (self, path, lower, y);
        }
      else
        lower = upper;
      if (gap == last)
        y = is_card (self, to) ? card_top (self, to) : self->stamp->height;
      else
        y = self->rank_top[gap] + self->rank_height[gap];
      add_point (self, path,
                 path->n
                     ? g_array_index (self->stamp->points, AdjPoint, path->first + path->n - 1).x
                     : lower,
                 y);
    }
}

static void
draw_pin (Press *self, guint p, float left, float right)
{
  const AdjStampPin *pin = &self->order->pins[p];
  const AdjStampCard *card = &self->order->cards[pin->card];
  AdjStampPath *path = &self->stamp->pins[p];
  float border = self->order->upwards ? left : right;
  float edge = self->order->upwards ? card_x (self, pin->card) - card->width / 2
                                    : card_x (self, pin->card) + card->width / 2;
  float offset = self->order->upwards ? -pin->offset : pin->offset;
  float y = card_top (self, pin->card) + card->height / 2 + offset;

  path->first = self->stamp->points->len;
  if (is_hidden (self, pin->card))
    {
      float x = stub_x (self, p), beyond = self->order->upwards ? left - 1 : right + 1;
      float track = jog_y (self, gap_of_pin (self, pin->card), x, beyond,
                           adj_block_graph_n_nodes (self->graph) + p);

      add_point (self, path, border, track);
      add_point (self, path, x, track);
      add_point (self, path, x, y);
    }
  else
    add_point (self, path, border, y);
  add_point (self, path, edge, y);
}

static void
draw (Press *self, float left, float right)
{
  const AdjBlockGraph *g = self->graph;
  AdjStamp *stamp = self->stamp;

  stamp->width = right - left;
  for (guint32 k = 0; k < self->order->n_lines; k++)
    draw_link (self, k);
  for (guint p = 0; p < self->order->n_pins; p++)
    draw_pin (self, p, left, right);
  for (guint32 i = 0; i < g->n_cards; i++)
    stamp->cards[i] =
        (AdjRect){ card_x (self, i) - self->order->cards[i].width / 2 - left, card_top (self, i),
                   self->order->cards[i].width, self->order->cards[i].height };
  for (guint32 i = 0; i < g->n_entries; i++)
    stamp->entries[i] = self->at->x[g->n_cards + i] - left;
  for (guint32 i = 0; i < g->n_exits; i++)
    stamp->exits[i] = self->at->x[g->n_cards + g->n_entries + i] - left;

  for (guint i = 0; i < stamp->points->len; i++)
    g_array_index (stamp->points, AdjPoint, i).x -= left;
  if (!self->order->upwards)
    return;
  for (guint i = 0; i < stamp->points->len; i++)
    {
      AdjPoint *p = &g_array_index (stamp->points, AdjPoint, i);

      p->y = stamp->height - p->y;
    }
  for (guint32 i = 0; i < g->n_cards; i++)
    stamp->cards[i].y = stamp->height - stamp->cards[i].y - stamp->cards[i].height;
}

static void
prepare (Press *self)
{
  gint32 n = self->at->n_ranks;

  self->in = g_new0 (float, MAX (self->graph->n_links, 1));
  self->jogs = g_array_new (FALSE, FALSE, sizeof (Jog));
  self->rank_top = g_new0 (float, n + 1);
  self->rank_height = g_new0 (float, n + 1);
  self->gap_top = g_new0 (float, n + 1);
  self->track_step = g_new0 (float, n + 1);
  self->passing = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (gint32 r = 0; r < n; r++)
    g_ptr_array_add (self->passing, g_array_new (FALSE, FALSE, sizeof (Passing)));
  for (guint32 i = 0; i < self->graph->n_cards; i++)
    {
      float *height = &self->rank_height[self->at->ranks[i]];

      *height = MAX (*height, self->order->cards[i].height);
    }
}

static void
press_clear (Press *self)
{
  adj_placement_free (self->at);
  g_array_unref (self->jogs);
  g_ptr_array_unref (self->passing);
  g_free (self->in);
  g_free (self->rank_top);
  g_free (self->rank_height);
  g_free (self->gap_top);
  g_free (self->track_step);
}

AdjStamp *
adj_stamp_new (const AdjStampOrder *order, const AdjPlacement *placement)
{
  const AdjBlockGraph *g = order->graph;
  AdjStamp *stamp = g_new0 (AdjStamp, 1);
  Press press = {
    .order = order, .graph = g, .at = adj_placement_copy (placement), .stamp = stamp
  };
  float left, right;

  stamp->n_cards = g->n_cards;
  stamp->cards = g_new0 (AdjRect, MAX (g->n_cards, 1));
  stamp->entries = g_new0 (float, MAX (g->n_entries, 1));
  stamp->exits = g_new0 (float, MAX (g->n_exits, 1));
  stamp->links = g_new0 (AdjStampPath, MAX (g->n_links, 1));
  stamp->pins = g_new0 (AdjStampPath, MAX (order->n_pins, 1));
  stamp->points = g_array_new (FALSE, FALSE, sizeof (AdjPoint));

  prepare (&press);
  pull_entries (&press);
  for (guint32 k = 0; k < order->n_lines; k++)
    straighten_link (&press, k);
  for (guint32 i = 0; i < g->n_cards; i++)
    place_arrivals (&press, i);
  place_ports (&press);
  find_extent (&press, &left, &right);
  add_link_jogs (&press);
  add_pin_jogs (&press, left, right);
  stack_ranks (&press);
  draw (&press, left, right);
  press_clear (&press);
  return stamp;
}

void
adj_stamp_free (AdjStamp *stamp)
{
  g_free (stamp->cards);
  g_free (stamp->entries);
  g_free (stamp->exits);
  g_free (stamp->links);
  g_free (stamp->pins);
  g_array_unref (stamp->points);
  g_free (stamp);
}
