/* SPDX-License-Identifier: MIT */
/* The places that the user visited, to go back and forward. */

#include "model/adj-history.h"

#define MAX_PLACES 200

void
adj_history_init (AdjHistory *history)
{
  history->places = g_array_new (FALSE, FALSE, sizeof (AdjVisit));
  history->at = -1;
}

void
adj_history_clear (AdjHistory *history)
{
  g_clear_pointer (&history->places, g_array_unref);
}

void
adj_history_reset (AdjHistory *history)
{
  g_array_set_size (history->places, 0);
  history->at = -1;
}

void
adj_history_push (AdjHistory *history, AdjVisit place)
{
  if (history->at >= 0)
    {
      const AdjVisit *now = &g_array_index (history->places, AdjVisit, history->at);

      if (now->graph == place.graph && now->node.index == place.node.index)
        return;
    }
  g_array_set_size (history->places, (guint) (history->at + 1));
  if (history->places->len >= MAX_PLACES)
    g_array_remove_index (history->places, 0);
  g_array_append_val (history->places, place);
  history->at = (gint) history->places->len - 1;
}

void
adj_history_renumber (AdjHistory *history, const guint *map)
{
  for (guint i = 0; i < history->places->len; i++)
    {
      AdjVisit *place = &g_array_index (history->places, AdjVisit, i);

      place->graph = map[place->graph];
    }
}

gboolean
adj_history_can_go (const AdjHistory *history, gint step)
{
  gint to = history->at + step;

  return to >= 0 && to < (gint) history->places->len;
}

const AdjVisit *
adj_history_go (AdjHistory *history, gint step)
{
  if (!adj_history_can_go (history, step))
    return NULL;
  history->at += step;
  return &g_array_index (history->places, AdjVisit, history->at);
}
