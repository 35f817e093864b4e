/* SPDX-License-Identifier: MIT */
/* Places a block in layers without Graphviz: ranks by longest path, order by barycentre sweeps. */

#include <stdlib.h>

#include "layout/adj-placement.h"

#define N_ORDER_SWEEPS 2
#define N_PLACE_SWEEPS 8
#define PASSING_WIDTH 10.0f /* room for a line that passes a rank */

/* The graph with every long link cut into pieces of one rank. */
typedef struct
{
  const AdjBlockGraph *graph;
  gint32 n_ranks;
  gint32 *ranks; /* of the graph's nodes */
  guint32 n;     /* with the passing points behind the graph's nodes */
  gint32 *rank;
  float *width;
  float *x;
  float *key;
  GArray **up, **down; /* neighbours, guint32 */
  GPtrArray *layers;   /* of GArray of guint32, from rank -1 on */
} Layering;

/* Longest path over the cards; a link against the order of the cards is ignored. */
static void
find_ranks (Layering *self)
{
  const AdjBlockGraph *g = self->graph;
  guint32 n = adj_block_graph_n_nodes (g);
  gboolean moved = TRUE;

  self->ranks = g_new0 (gint32, MAX (n, 1));
  self->n_ranks = g->n_cards ? 1 : 0;
  for (guint round = 0; moved && round < g->n_cards; round++)
    {
      moved = FALSE;
      for (guint k = 0; k < g->n_links; k++)
        {
          guint32 from = g->links[k][0], to = g->links[k][1];

          if (from < to && to < g->n_cards && self->ranks[to] <= self->ranks[from])
            {
              self->ranks[to] = self->ranks[from] + 1;
              self->n_ranks = MAX (self->n_ranks, self->ranks[to] + 1);
              moved = TRUE;
            }
        }
    }
  for (guint32 i = g->n_cards; i < n; i++)
    self->ranks[i] = i < g->n_cards + g->n_entries ? -1 : self->n_ranks;
}

static void
join (Layering *self, guint32 a, guint32 b)
{
  g_array_append_val (self->down[a], b);
  g_array_append_val (self->up[b], a);
}

static void
cut_links (Layering *self, const AdjPlacement *placement)
{
  const AdjBlockGraph *g = self->graph;
  guint32 n = adj_block_graph_n_nodes (g);

  self->n = n + placement->first[g->n_links];
  self->rank = g_new0 (gint32, MAX (self->n, 1));
  self->width = g_new0 (float, MAX (self->n, 1));
  self->x = g_new0 (float, MAX (self->n, 1));
  self->key = g_new0 (float, MAX (self->n, 1));
  self->up = g_new (GArray *, MAX (self->n, 1));
  self->down = g_new (GArray *, MAX (self->n, 1));
  for (guint32 i = 0; i < self->n; i++)
    {
      self->up[i] = g_array_new (FALSE, FALSE, sizeof (guint32));
      self->down[i] = g_array_new (FALSE, FALSE, sizeof (guint32));
      self->rank[i] = i < n ? self->ranks[i] : 0;
      self->width[i] = i < g->n_cards ? g->widths[i] : PASSING_WIDTH;
    }

  for (guint k = 0; k < g->n_links; k++)
    {
      guint32 at = g->links[k][0];
      gint32 rank = self->ranks[at];

      if (self->ranks[g->links[k][1]] <= rank)
        continue;
      for (guint32 v = placement->first[k]; v < placement->first[k + 1]; v++)
        {
          self->rank[n + v] = ++rank;
          join (self, at, n + v);
          at = n + v;
        }
      join (self, at, g->links[k][1]);
    }

  self->layers = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (gint32 r = -1; r <= self->n_ranks; r++)
    g_ptr_array_add (self->layers, g_array_new (FALSE, FALSE, sizeof (guint32)));
  for (guint32 i = 0; i < self->n; i++)
    g_array_append_val (g_ptr_array_index (self->layers, self->rank[i] + 1), i);
}

static float
mean_of (const Layering *self, const GArray *neighbours, float otherwise)
{
  float sum = 0;

  for (guint i = 0; i < neighbours->len; i++)
    sum += self->x[g_array_index (neighbours, guint32, i)];
  return neighbours->len ? sum / (float) neighbours->len : otherwise;
}

static gint
by_key (gconstpointer a, gconstpointer b, gpointer data)
{
  const float *key = data;
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  if (key[i] != key[j])
    return key[i] < key[j] ? -1 : 1;
  return i < j ? -1 : i > j;
}

/* Packs a layer in its order, as near to the wanted centres (key) as the widths allow. */
static void
pack_layer (Layering *self, const GArray *layer)
{
  float right = -G_MAXFLOAT, shift = 0;

  for (guint i = 0; i < layer->len; i++)
    {
      guint32 node = g_array_index (layer, guint32, i);
      float half = self->width[node] / 2;
      float x = MAX (self->key[node], right + half);

      shift += x - self->key[node];
      self->x[node] = x;
      right = x + half + ADJ_CARD_DISTANCE;
    }
  for (guint i = 0; i < layer->len; i++)
    self->x[g_array_index (layer, guint32, i)] -= shift / (float) layer->len;
}

static void
sweep (Layering *self, gboolean down, gboolean reorder)
{
  for (guint k = 0; k < self->layers->len; k++)
    {
      GArray *layer = g_ptr_array_index (self->layers, down ? k : self->layers->len - 1 - k);

      for (guint i = 0; i < layer->len; i++)
        {
          guint32 node = g_array_index (layer, guint32, i);

          self->key[node] = mean_of (self, down ? self->up[node] : self->down[node], self->x[node]);
        }
      if (reorder)
        g_array_sort_with_data (layer, by_key, self->key);
      pack_layer (self, layer);
    }
}

static void
layering_clear (Layering *self)
{
  for (guint32 i = 0; i < self->n; i++)
    {
      g_array_unref (self->up[i]);
      g_array_unref (self->down[i]);
    }
  g_ptr_array_unref (self->layers);
  g_free (self->up);
  g_free (self->down);
  g_free (self->ranks);
  g_free (self->rank);
  g_free (self->width);
  g_free (self->x);
  g_free (self->key);
}

AdjPlacement *
adj_placement_layer (const AdjBlockGraph *graph)
{
  Layering self = { .graph = graph };
  AdjPlacement *placement;
  guint32 n = adj_block_graph_n_nodes (graph);

  find_ranks (&self);
  placement = adj_placement_new (graph, self.ranks, self.n_ranks);
  cut_links (&self, placement);

  sweep (&self, TRUE, FALSE);
  for (guint i = 0; i < N_ORDER_SWEEPS; i++)
    {
      sweep (&self, TRUE, TRUE);
      sweep (&self, FALSE, TRUE);
    }
  for (guint i = 0; i < N_PLACE_SWEEPS; i++)
    sweep (&self, i % 2 == 0, FALSE);

  for (guint32 i = 0; i < n; i++)
    placement->x[i] = self.x[i];
  for (guint32 v = 0; v < placement->first[graph->n_links]; v++)
    placement->via[v] = self.x[n + v];
  layering_clear (&self);
  return placement;
}
