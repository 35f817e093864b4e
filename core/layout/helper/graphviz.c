/* SPDX-License-Identifier: MIT */
/* Places one block with Graphviz's dot, in the helper process. */

#include "graphviz.h"

#include <math.h>
#include <stdlib.h>

#define PER_INCH 72.0
#define CARD_HEIGHT 36.0
#define RANK_DISTANCE 24.0
#define PORT_WIDTH 4.0
#define PIECES 12 /* straight pieces that approximate a curve */

static void
set_inches (void *object, const char *name, double points)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  agset (object, (char *) name, g_ascii_formatd (text, sizeof text, "%.4f", points / PER_INCH));
}

static void
declare (Agraph_t *g)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  agattr (g, AGRAPH, (char *) "nodesep",
          g_ascii_formatd (text, sizeof text, "%.4f", ADJ_CARD_DISTANCE / PER_INCH));
  agattr (g, AGRAPH, (char *) "ranksep",
          g_ascii_formatd (text, sizeof text, "%.4f", RANK_DISTANCE / PER_INCH));
  agattr (g, AGRAPH, (char *) "rank", (char *) "");
  agattr (g, AGRAPH, (char *) "splines", (char *) "true");
  agattr (g, AGNODE, (char *) "shape", (char *) "box");
  agattr (g, AGNODE, (char *) "fixedsize", (char *) "true");
  agattr (g, AGNODE, (char *) "label", (char *) "");
  agattr (g, AGNODE, (char *) "width", (char *) "1");
  agattr (g, AGNODE, (char *) "height", (char *) "0.5");
  agattr (g, AGEDGE, (char *) "arrowhead", (char *) "none");
  agattr (g, AGEDGE, (char *) "weight", (char *) "1");
}

static Agraph_t *
make_graph (const AdjBlockGraph *graph, Agnode_t **nodes, Agedge_t **edges)
{
  Agraph_t *g = agopen ((char *) "block", Agstrictdirected, NULL);
  Agraph_t *entries, *exits;
  g_autofree guint8 *goes_on = g_new0 (guint8, MAX (adj_block_graph_n_nodes (graph), 1));

  declare (g);
  entries = agsubg (g, (char *) "entries", 1);
  exits = agsubg (g, (char *) "exits", 1);
  agset (entries, (char *) "rank", (char *) "source");
  agset (exits, (char *) "rank", (char *) "sink");
  for (guint32 i = 0; i < adj_block_graph_n_nodes (graph); i++)
    {
      char name[16];

      g_snprintf (name, sizeof name, "%u", i);
      nodes[i] = agnode (g, name, 1);
      set_inches (nodes[i], "width", i < graph->n_cards ? graph->widths[i] : PORT_WIDTH);
      set_inches (nodes[i], "height", CARD_HEIGHT);
      if (i >= graph->n_cards)
        agsubnode (i < graph->n_cards + graph->n_entries ? entries : exits, nodes[i], 1);
    }
  for (guint32 k = 0; k < graph->n_links; k++)
    goes_on[graph->links[k][0]] = TRUE;
  for (guint32 k = 0; k < graph->n_links; k++)
    {
      guint32 from = graph->links[k][0], to = graph->links[k][1];

      edges[k] = agedge (g, nodes[from], nodes[to], NULL, 1);
      /* Chains of cards are made straight, in preference to branches that end and lines that pass.
       */
      if (from < graph->n_cards && to < graph->n_cards && goes_on[to])
        agset (edges[k], (char *) "weight", (char *) "8");
    }
  return g;
}

static int
descending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return x < y ? 1 : x > y ? -1 : 0;
}

/* Ranks are the different heights of the cards. */
static gint32
read_ranks (const AdjBlockGraph *graph, Agnode_t **nodes, gint32 *ranks, GArray *heights)
{
  gint32 n_ranks = 0;
  g_autofree double *y = g_new (double, MAX (graph->n_cards, 1));

  for (guint32 i = 0; i < graph->n_cards; i++)
    y[i] = ND_coord (nodes[i]).y;
  qsort (y, graph->n_cards, sizeof *y, descending);
  for (guint32 i = 0; i < graph->n_cards; i++)
    if (!heights->len || y[i] < g_array_index (heights, double, heights->len - 1) - 1)
      g_array_append_val (heights, y[i]);
  n_ranks = (gint32) heights->len;

  for (guint32 i = 0; i < adj_block_graph_n_nodes (graph); i++)
    {
      ranks[i] = i < graph->n_cards + graph->n_entries ? -1 : n_ranks;
      for (guint r = 0; r < heights->len && i < graph->n_cards; r++)
        if (fabs (ND_coord (nodes[i]).y - g_array_index (heights, double, r)) <= 1)
          ranks[i] = (gint32) r;
    }
  return n_ranks;
}

static pointf
curve_at (const pointf *p, double t)
{
  double s = 1 - t;

  return (pointf){
    s * s * s * p[0].x + 3 * s * s * t * p[1].x + 3 * s * t * t * p[2].x + t * t * t * p[3].x,
    s * s * s * p[0].y + 3 * s * s * t * p[1].y + 3 * s * t * t * p[2].y + t * t * t * p[3].y,
  };
}

/* Where the drawn edge is at height @y. */
static float
edge_x (Agedge_t *edge, double y, float otherwise)
{
  const splines *spline = ED_spl (edge);
  const bezier *curve = spline && spline->size ? &spline->list[0] : NULL;

  for (size_t i = 0; curve && i + 3 < (size_t) curve->size; i += 3)
    for (guint k = 0; k < PIECES; k++)
      {
        pointf a = curve_at (curve->list + i, (double) k / PIECES);
        pointf b = curve_at (curve->list + i, (double) (k + 1) / PIECES);

        if ((a.y - y) * (b.y - y) <= 0)
          return (float) (a.y == b.y ? a.x : a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y));
      }
  return otherwise;
}

static AdjPlacement *
read_placement (const AdjBlockGraph *graph, Agnode_t **nodes, Agedge_t **edges)
{
  guint32 n = adj_block_graph_n_nodes (graph);
  g_autofree gint32 *ranks = g_new (gint32, MAX (n, 1));
  g_autoptr (GArray) heights = g_array_new (FALSE, FALSE, sizeof (double));
  gint32 n_ranks = read_ranks (graph, nodes, ranks, heights);
  AdjPlacement *placement = adj_placement_new (graph, ranks, n_ranks);

  for (guint32 i = 0; i < n; i++)
    placement->x[i] = (float) ND_coord (nodes[i]).x;
  for (guint32 k = 0; k < graph->n_links; k++)
    for (guint32 v = placement->first[k]; v < placement->first[k + 1]; v++)
      {
        gint32 rank = ranks[graph->links[k][0]] + 1 + (gint32) (v - placement->first[k]);

        placement->via[v] = edge_x (edges[k], g_array_index (heights, double, rank),
                                    placement->x[graph->links[k][1]]);
      }
  return placement;
}

AdjPlacement *
dot_place (GVC_t *context, const AdjBlockGraph *graph)
{
  guint32 n = adj_block_graph_n_nodes (graph);
  g_autofree Agnode_t **nodes = g_new0 (Agnode_t *, MAX (n, 1));
  g_autofree Agedge_t **edges = g_new0 (Agedge_t *, MAX (graph->n_links, 1));
  AdjPlacement *placement = NULL;
  Agraph_t *g;

  g = make_graph (graph, nodes, edges);
  if (gvLayout (context, g, "dot") == 0)
    {
      placement = read_placement (graph, nodes, edges);
      gvFreeLayout (context, g);
    }
  agclose (g);
  return placement;
}
