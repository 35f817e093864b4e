/* SPDX-License-Identifier: MIT */
/* The block template: the routed block, drawn once for all blocks that look the same. */

#include "layout/adj-block-template.h"

#include <math.h>

#include "layout/router-private.h"

#define STUB 9.0f /* how far a line goes out sideways before it turns */

AdjTemplateSpec *
adj_template_spec_new (
    guint32 n_cards, guint32 n_entries, guint32 n_exits, guint32 n_links, guint n_pins)
{
  AdjTemplateSpec *spec = g_new0 (AdjTemplateSpec, 1);

  spec->graph = adj_block_graph_new (n_cards, n_entries, n_exits, n_links);
  spec->n_lines = n_links;
  spec->cards = g_new0 (AdjTemplateCard, MAX (n_cards, 1));
  spec->n_pins = n_pins;
  spec->pins = g_new0 (AdjTemplatePin, MAX (n_pins, 1));
  return spec;
}

void
adj_template_spec_free (AdjTemplateSpec *spec)
{
  adj_block_graph_free (spec->graph);
  g_free (spec->cards);
  g_free (spec->pins);
  g_free (spec);
}

char *
adj_template_spec_get_key (const AdjTemplateSpec *spec)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GBytes) graph = adj_block_graph_to_bytes (spec->graph);
  guint32 head[3] = { spec->upwards != 0, spec->n_pins, spec->n_lines };

  g_checksum_update (sum, (const guint8 *) head, sizeof head);
  g_checksum_update (sum, g_bytes_get_data (graph, NULL), (gssize) g_bytes_get_size (graph));
  g_checksum_update (sum, (const guint8 *) spec->cards,
                     (gssize) (sizeof (AdjTemplateCard) * spec->graph->n_cards));
  g_checksum_update (sum, (const guint8 *) spec->pins,
                     (gssize) (sizeof (AdjTemplatePin) * spec->n_pins));
  return g_strdup (g_checksum_get_string (sum));
}

gboolean
router_is_card (const BlockRouter *self, guint32 node)
{
  return node < self->graph->n_cards;
}

float
router_get_left (const BlockRouter *self, guint32 node)
{
  const AdjTemplateCard *card = &self->spec->cards[node];

  return router_is_card (self, node) ? self->at->x[node] - card->width / 2 - card->left
                                     : self->at->x[node];
}

float
router_get_right (const BlockRouter *self, guint32 node)
{
  const AdjTemplateCard *card = &self->spec->cards[node];

  return router_is_card (self, node) ? self->at->x[node] + card->width / 2 + card->right
                                     : self->at->x[node];
}

void
router_get_ends (const BlockRouter *self, guint32 k, gint32 gap, float *upper, float *lower)
{
  gint32 first = self->at->ranks[self->graph->links[k][0]] + 1;
  gint32 last = self->at->ranks[self->graph->links[k][1]];
  guint32 via = self->at->first[k];

  *upper = gap == first ? self->at->x[self->graph->links[k][0]]
                        : self->at->via[via + (guint32) (gap - first) - 1];
  *lower = gap == last ? self->in[k] : self->at->via[via + (guint32) (gap - first)];
}

gboolean
router_is_hidden (const BlockRouter *self, guint32 card)
{
  for (guint32 i = 0; i < self->graph->n_cards; i++)
    if (i != card && self->at->ranks[i] == self->at->ranks[card] &&
        (self->spec->upwards ? self->at->x[i] < self->at->x[card]
                             : self->at->x[i] > self->at->x[card]))
      return TRUE;
  return FALSE;
}

static float
gutter_side (const BlockRouter *self, guint32 card)
{
  return self->spec->upwards ? router_get_left (self, card) : router_get_right (self, card);
}

gint32
router_get_gap_of_pin (const BlockRouter *self, guint32 card)
{
  return self->at->ranks[card] + (self->spec->upwards ? 0 : 1);
}

float
router_get_stub (const BlockRouter *self, guint p)
{
  guint32 card = self->spec->pins[p].card;
  float side = gutter_side (self, card);
  float more = fabsf (self->spec->pins[p].offset) / 3;

  return self->spec->upwards ? side - STUB - more : side + STUB + more;
}

static void
find_extent (const BlockRouter *self, float *left, float *right)
{
  *left = G_MAXFLOAT;
  *right = -G_MAXFLOAT;
  for (guint32 i = 0; i < adj_block_graph_n_nodes (self->graph); i++)
    {
      *left = MIN (*left, router_get_left (self, i));
      *right = MAX (*right, router_get_right (self, i));
    }
  for (guint32 v = 0; v < self->at->first[self->spec->n_lines]; v++)
    {
      *left = MIN (*left, self->at->via[v]);
      *right = MAX (*right, self->at->via[v]);
    }
  for (guint p = 0; p < self->spec->n_pins; p++)
    if (router_is_hidden (self, self->spec->pins[p].card))
      {
        *left = MIN (*left, router_get_stub (self, p));
        *right = MAX (*right, router_get_stub (self, p));
      }
  if (*left > *right)
    *left = *right = 0;
}

static void
add_point (BlockRouter *self, AdjTemplatePath *path, float x, float y)
{
  AdjPoint point = { x, y };
  AdjPoint *points = (AdjPoint *) (gpointer) self->template->points->data + path->first;

  if (path->n > 1 && points[path->n - 1].x == x && points[path->n - 2].x == x)
    points[path->n - 1].y = y;
  else
    {
      g_array_append_val (self->template->points, point);
      path->n++;
    }
}

static float
card_top (const BlockRouter *self, guint32 card)
{
  gint32 rank = self->at->ranks[card];

  return self->rank_top[rank] + (self->rank_height[rank] - self->spec->cards[card].height) / 2;
}

static void
draw_link (BlockRouter *self, guint32 k)
{
  guint32 from = self->graph->links[k][0], to = self->graph->links[k][1];
  gint32 first = self->at->ranks[from] + 1, last = self->at->ranks[to];
  AdjTemplatePath *path = &self->template->links[k];
  float y = router_is_card (self, from) ? card_top (self, from) + self->spec->cards[from].height
                                        : self->gap_top[0];

  path->first = self->template->points->len;
  add_point (self, path, self->at->x[from], y);
  for (gint32 gap = first; gap <= last; gap++)
    {
      float upper, lower;

      router_get_ends (self, k, gap, &upper, &lower);
      if (fabsf (upper - lower) > ROUTER_STRAIGHT)
        {
          y = router_get_track (self, gap, upper, lower, from);
          add_point (self, path, upper, y);
          add_point (self, path, lower, y);
        }
      else
        lower = upper;
      if (gap == last)
        y = router_is_card (self, to) ? card_top (self, to) : self->template->height;
      else
        y = self->rank_top[gap] + self->rank_height[gap];
      add_point (self, path,
                 path->n
                     ? g_array_index (self->template->points, AdjPoint, path->first + path->n - 1).x
                     : lower,
                 y);
    }
}

static void
draw_pin (BlockRouter *self, guint p, float left, float right)
{
  const AdjTemplatePin *pin = &self->spec->pins[p];
  const AdjTemplateCard *card = &self->spec->cards[pin->card];
  AdjTemplatePath *path = &self->template->pins[p];
  float border = self->spec->upwards ? left : right;
  float edge = self->spec->upwards ? self->at->x[pin->card] - card->width / 2
                                   : self->at->x[pin->card] + card->width / 2;
  float offset = self->spec->upwards ? -pin->offset : pin->offset;
  float y = card_top (self, pin->card) + card->height / 2 + offset;

  path->first = self->template->points->len;
  if (router_is_hidden (self, pin->card))
    {
      float x = router_get_stub (self, p), beyond = self->spec->upwards ? left - 1 : right + 1;
      float track = router_get_track (self, router_get_gap_of_pin (self, pin->card), x, beyond,
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
draw (BlockRouter *self, float left, float right)
{
  const AdjBlockGraph *g = self->graph;
  AdjBlockTemplate *template = self->template;

  template->width = right - left;
  for (guint32 k = 0; k < self->spec->n_lines; k++)
    draw_link (self, k);
  for (guint p = 0; p < self->spec->n_pins; p++)
    draw_pin (self, p, left, right);
  for (guint32 i = 0; i < g->n_cards; i++)
    template->cards[i] =
        (AdjRect){ self->at->x[i] - self->spec->cards[i].width / 2 - left, card_top (self, i),
                   self->spec->cards[i].width, self->spec->cards[i].height };
  for (guint32 i = 0; i < g->n_entries; i++)
    template->entries[i] = self->at->x[g->n_cards + i] - left;
  for (guint32 i = 0; i < g->n_exits; i++)
    template->exits[i] = self->at->x[g->n_cards + g->n_entries + i] - left;

  for (guint i = 0; i < template->points->len; i++)
    g_array_index (template->points, AdjPoint, i).x -= left;
  if (!self->spec->upwards)
    return;
  for (guint i = 0; i < template->points->len; i++)
    {
      AdjPoint *p = &g_array_index (template->points, AdjPoint, i);

      p->y = template->height - p->y;
    }
  for (guint32 i = 0; i < g->n_cards; i++)
    template->cards[i].y = template->height - template->cards[i].y - template->cards[i].height;
}

static void
prepare (BlockRouter *self)
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

      *height = MAX (*height, self->spec->cards[i].height);
    }
}

static void
router_clear (BlockRouter *self)
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

AdjBlockTemplate *
adj_block_template_new (const AdjTemplateSpec *spec, const AdjPlacement *placement)
{
  const AdjBlockGraph *g = spec->graph;
  AdjBlockTemplate *template = g_new0 (AdjBlockTemplate, 1);
  BlockRouter router = {
    .spec = spec, .graph = g, .at = adj_placement_copy (placement), .template = template
  };
  float left, right;

  template->n_cards = g->n_cards;
  template->cards = g_new0 (AdjRect, MAX (g->n_cards, 1));
  template->entries = g_new0 (float, MAX (g->n_entries, 1));
  template->exits = g_new0 (float, MAX (g->n_exits, 1));
  template->links = g_new0 (AdjTemplatePath, MAX (g->n_links, 1));
  template->pins = g_new0 (AdjTemplatePath, MAX (spec->n_pins, 1));
  template->points = g_array_new (FALSE, FALSE, sizeof (AdjPoint));

  router_turn (&router);
  prepare (&router);
  router_run_lines (&router);
  find_extent (&router, &left, &right);
  router_stack (&router, left, right);
  draw (&router, left, right);
  router_clear (&router);
  return template;
}

void
adj_block_template_free (AdjBlockTemplate *template)
{
  g_free (template->cards);
  g_free (template->entries);
  g_free (template->exits);
  g_free (template->links);
  g_free (template->pins);
  g_array_unref (template->points);
  g_free (template);
}
