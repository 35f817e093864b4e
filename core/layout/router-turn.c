/* SPDX-License-Identifier: MIT */
/* Mirrors a block where that leaves less between its cards and the gutter, so that pins cross fewer
 * lines. */

#include "layout/router-private.h"

/* Whether @x lies between @card and the gutter; @turned: as if the block were turned over. */
static gboolean
is_between (const BlockRouter *self, guint32 card, float x, gboolean turned)
{
  return self->spec->upwards != turned ? x < self->at->x[card] : x > self->at->x[card];
}

/* Lines and cards that the pins of a card cross at its rank. */
static guint
count_passed (const BlockRouter *self, guint32 card, gboolean turned)
{
  const AdjPlacement *at = self->at;
  gint32 rank = at->ranks[card];
  guint n = 0;

  for (guint32 k = 0; k < self->spec->n_lines; k++)
    {
      gint32 above = at->ranks[self->graph->links[k][0]];

      if (above < rank && at->ranks[self->graph->links[k][1]] > rank)
        n += is_between (self, card, at->via[at->first[k] + (guint32) (rank - above - 1)], turned);
    }
  for (guint32 i = 0; i < self->graph->n_cards; i++)
    n += i != card && at->ranks[i] == rank && is_between (self, card, at->x[i], turned);
  return n;
}

void
router_turn (BlockRouter *self)
{
  AdjPlacement *at = self->at;
  guint n[2] = { 0, 0 };
  guint32 last = G_MAXUINT32;

  for (guint p = 0; p < self->spec->n_pins; p++)
    {
      guint32 card = self->spec->pins[p].card;

      for (guint turned = 0; turned < 2 && card != last; turned++)
        n[turned] += count_passed (self, card, turned == 1);
      last = card;
    }
  if (n[1] >= n[0])
    return;
  for (guint32 i = 0; i < at->n_nodes; i++)
    at->x[i] = -at->x[i];
  for (guint32 i = 0; i < at->first[at->n_links]; i++)
    at->via[i] = -at->via[i];
}
