/* SPDX-License-Identifier: MIT */
/* The block template: the routed block, drawn once for all blocks that look the same. */

#include "layout/adj-stamp.h"

#include <math.h>

#include "layout/press-private.h"

#define STUB 9.0f /* how far a line goes out sideways before it turns */

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

gboolean
press_is_card (const Press *self, guint32 node)
{
  return node < self->graph->n_cards;
}

float
press_get_left (const Press *self, guint32 node)
{
  const AdjStampCard *card = &self->order->cards[node];

  return press_is_card (self, node) ? self->at->x[node] - card->width / 2 - card->left
                                    : self->at->x[node];
}

float
press_get_right (const Press *self, guint32 node)
{
  const AdjStampCard *card = &self->order->cards[node];

  return press_is_card (self, node) ? self->at->x[node] + card->width / 2 + card->right
                                    : self->at->x[node];
}

void
press_get_ends (const Press *self, guint32 k, gint32 gap, float *upper, float *lower)
{
  gint32 first = self->at->ranks[self->graph->links[k][0]] + 1;
  gint32 last = self->at->ranks[self->graph->links[k][1]];
  guint32 via = self->at->first[k];

  *upper = gap == first ? self->at->x[self->graph->links[k][0]]
                        : self->at->via[via + (guint32) (gap - first) - 1];
  *lower = gap == last ? self->in[k] : self->at->via[via + (guint32) (gap - first)];
}

gboolean
press_is_hidden (const Press *self, guint32 card)
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
  return self->order->upwards ? press_get_left (self, card) : press_get_right (self, card);
}

gint32
press_get_gap_of_pin (const Press *self, guint32 card)
{
  return self->at->ranks[card] + (self->order->upwards ? 0 : 1);
}

float
press_get_stub (const Press *self, guint p)
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
      *left = MIN (*left, press_get_left (self, i));
      *right = MAX (*right, press_get_right (self, i));
    }
  for (guint32 v = 0; v < self->at->first[self->order->n_lines]; v++)
    {
      *left = MIN (*left, self->at->via[v]);
      *right = MAX (*right, self->at->via[v]);
    }
  for (guint p = 0; p < self->order->n_pins; p++)
    if (press_is_hidden (self, self->order->pins[p].card))
      {
        *left = MIN (*left, press_get_stub (self, p));
        *right = MAX (*right, press_get_stub (self, p));
      }
  if (*left > *right)
    *left = *right = 0;
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
  float y = press_is_card (self, from) ? card_top (self, from) + self->order->cards[from].height
                                       : self->gap_top[0];

  path->first = self->stamp->points->len;
  add_point (self, path, self->at->x[from], y);
  for (gint32 gap = first; gap <= last; gap++)
    {
      float upper, lower;

      press_get_ends (self, k, gap, &upper, &lower);
      if (fabsf (upper - lower) > PRESS_STRAIGHT)
        {
          y = press_get_track (self, gap, upper, lower, from);
          add_point (self, path, upper, y);
          add_point (self, path, lower, y);
        }
      else
        lower = upper;
      if (gap == last)
        y = press_is_card (self, to) ? card_top (self, to) : self->stamp->height;
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
  float edge = self->order->upwards ? self->at->x[pin->card] - card->width / 2
                                    : self->at->x[pin->card] + card->width / 2;
  float offset = self->order->upwards ? -pin->offset : pin->offset;
  float y = card_top (self, pin->card) + card->height / 2 + offset;

  path->first = self->stamp->points->len;
  if (press_is_hidden (self, pin->card))
    {
      float x = press_get_stub (self, p), beyond = self->order->upwards ? left - 1 : right + 1;
      float track = press_get_track (self, press_get_gap_of_pin (self, pin->card), x, beyond,
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
        (AdjRect){ self->at->x[i] - self->order->cards[i].width / 2 - left, card_top (self, i),
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
  self->rank_top = g_new0 (float, n + 1);
  self->rank_height = g_new0 (float, n + 1);
  self->gap_top = g_new0 (float, n + 1);
  self->track_step = g_new0 (float, n + 1);
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
  press_run_lines (&press);
  find_extent (&press, &left, &right);
  press_stack (&press, left, right);
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
