/* SPDX-License-Identifier: MIT */
/* The graph of one block and its placement, and both as bytes for the helper and the cache. */

#include "layout/adj-placement.h"

#include <math.h>
#include <string.h>

/* Both messages are arrays of 32-bit words in native byte order: they never leave the machine. */
#define GRAPH_MAGIC 0x31424a41u     /* "AJB1" */
#define PLACEMENT_MAGIC 0x31504a41u /* "AJP1" */
#define MAX_VIA (1u << 22)
#define MAX_COORDINATE 1e7f

typedef struct
{
  guint32 magic, n_cards, n_entries, n_exits, n_links;
} GraphHead;

typedef struct
{
  guint32 magic, n_ranks, n_nodes, n_links, n_via;
} PlacementHead;

AdjBlockGraph *
adj_block_graph_new (guint32 n_cards, guint32 n_entries, guint32 n_exits, guint32 n_links)
{
  AdjBlockGraph *graph = g_new0 (AdjBlockGraph, 1);

  graph->n_cards = n_cards;
  graph->n_entries = n_entries;
  graph->n_exits = n_exits;
  graph->n_links = n_links;
  graph->widths = g_new0 (float, MAX (n_cards, 1));
  graph->links = g_malloc0 (sizeof *graph->links * MAX (n_links, 1));
  return graph;
}

void
adj_block_graph_free (AdjBlockGraph *graph)
{
  g_free (graph->widths);
  g_free (graph->links);
  g_free (graph);
}

GBytes *
adj_block_graph_to_bytes (const AdjBlockGraph *graph)
{
  GraphHead head = { GRAPH_MAGIC, graph->n_cards, graph->n_entries, graph->n_exits,
                     graph->n_links };
  GByteArray *out = g_byte_array_new ();

  g_byte_array_append (out, (const guint8 *) &head, sizeof head);
  g_byte_array_append (out, (const guint8 *) graph->widths,
                       (guint) (sizeof (float) * graph->n_cards));
  g_byte_array_append (out, (const guint8 *) graph->links,
                       (guint) (sizeof *graph->links * graph->n_links));
  return g_byte_array_free_to_bytes (out);
}

AdjBlockGraph *
adj_block_graph_from_bytes (GBytes *bytes)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  g_autoptr (AdjBlockGraph) graph = NULL;
  GraphHead head;

  if (size < sizeof head)
    return NULL;
  memcpy (&head, data, sizeof head);
  if (head.magic != GRAPH_MAGIC || head.n_cards > ADJ_BLOCK_MAX_NODES ||
      head.n_entries > ADJ_BLOCK_MAX_NODES || head.n_exits > ADJ_BLOCK_MAX_NODES ||
      head.n_links > ADJ_BLOCK_MAX_LINKS ||
      size != sizeof head + sizeof (float) * head.n_cards + 8 * (gsize) head.n_links)
    return NULL;

  graph = adj_block_graph_new (head.n_cards, head.n_entries, head.n_exits, head.n_links);
  memcpy (graph->widths, data + sizeof head, sizeof (float) * head.n_cards);
  memcpy (graph->links, data + sizeof head + sizeof (float) * head.n_cards, 8 * head.n_links);
  for (guint i = 0; i < head.n_cards; i++)
    if (!(graph->widths[i] > 0 && graph->widths[i] < MAX_COORDINATE))
      return NULL;
  for (guint k = 0; k < head.n_links; k++)
    if (graph->links[k][0] >= adj_block_graph_n_nodes (graph) ||
        graph->links[k][1] >= adj_block_graph_n_nodes (graph) ||
        graph->links[k][0] == graph->links[k][1])
      return NULL;
  return g_steal_pointer (&graph);
}

static guint32
crossings (const gint32 *ranks, const guint32 link[2])
{
  gint32 between = ranks[link[1]] - ranks[link[0]] - 1;

  return between > 0 ? (guint32) between : 0;
}

AdjPlacement *
adj_placement_new (const AdjBlockGraph *graph, const gint32 *ranks, gint32 n_ranks)
{
  AdjPlacement *placement = g_new0 (AdjPlacement, 1);

  placement->n_ranks = n_ranks;
  placement->n_nodes = adj_block_graph_n_nodes (graph);
  placement->n_links = graph->n_links;
  placement->ranks = g_memdup2 (ranks, sizeof (gint32) * MAX (placement->n_nodes, 1));
  placement->x = g_new0 (float, MAX (placement->n_nodes, 1));
  placement->first = g_new0 (guint32, graph->n_links + 1);
  for (guint k = 0; k < graph->n_links; k++)
    placement->first[k + 1] = placement->first[k] + crossings (ranks, graph->links[k]);
  placement->via = g_new0 (float, MAX (placement->first[graph->n_links], 1));
  return placement;
}

void
adj_placement_free (AdjPlacement *placement)
{
  g_free (placement->ranks);
  g_free (placement->x);
  g_free (placement->first);
  g_free (placement->via);
  g_free (placement);
}

AdjPlacement *
adj_placement_copy (const AdjPlacement *placement)
{
  AdjPlacement *copy = g_memdup2 (placement, sizeof *placement);
  guint32 n_via = placement->first[placement->n_links];

  copy->ranks = g_memdup2 (placement->ranks, sizeof (gint32) * MAX (placement->n_nodes, 1));
  copy->x = g_memdup2 (placement->x, sizeof (float) * MAX (placement->n_nodes, 1));
  copy->first = g_memdup2 (placement->first, sizeof (guint32) * (placement->n_links + 1));
  copy->via = g_memdup2 (placement->via, sizeof (float) * MAX (n_via, 1));
  return copy;
}

GBytes *
adj_placement_to_bytes (const AdjPlacement *placement)
{
  guint32 n_via = placement->first[placement->n_links];
  PlacementHead head = { PLACEMENT_MAGIC, (guint32) placement->n_ranks, placement->n_nodes,
                         placement->n_links, n_via };
  GByteArray *out = g_byte_array_new ();

  g_byte_array_append (out, (const guint8 *) &head, sizeof head);
  g_byte_array_append (out, (const guint8 *) placement->ranks, placement->n_nodes * 4);
  g_byte_array_append (out, (const guint8 *) placement->x, placement->n_nodes * 4);
  g_byte_array_append (out, (const guint8 *) placement->via, n_via * 4);
  return g_byte_array_free_to_bytes (out);
}

static gboolean
all_finite (const float *x, guint32 n)
{
  for (guint32 i = 0; i < n; i++)
    if (!(fabsf (x[i]) < MAX_COORDINATE))
      return FALSE;
  return TRUE;
}

static gboolean
ranks_fit (const gint32 *ranks, gint32 n_ranks, const AdjBlockGraph *graph)
{
  for (guint32 i = 0; i < adj_block_graph_n_nodes (graph); i++)
    {
      gboolean card = i < graph->n_cards;
      gint32 end = i < graph->n_cards + graph->n_entries ? -1 : n_ranks;

      if (card ? ranks[i] < 0 || ranks[i] >= n_ranks : ranks[i] != end)
        return FALSE;
    }
  return TRUE;
}

AdjPlacement *
adj_placement_from_bytes (GBytes *bytes, const AdjBlockGraph *graph)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (bytes, &size);
  guint32 n = adj_block_graph_n_nodes (graph);
  g_autoptr (AdjPlacement) placement = NULL;
  g_autofree gint32 *ranks = g_new (gint32, MAX (n, 1));
  PlacementHead head;

  if (size < sizeof head)
    return NULL;
  memcpy (&head, data, sizeof head);
  if (head.magic != PLACEMENT_MAGIC || head.n_nodes != n || head.n_links != graph->n_links ||
      head.n_ranks > ADJ_BLOCK_MAX_NODES || head.n_via > MAX_VIA ||
      size != sizeof head + 8 * (gsize) n + 4 * (gsize) head.n_via)
    return NULL;

  memcpy (ranks, data + sizeof head, 4 * (gsize) n);
  if (!ranks_fit (ranks, (gint32) head.n_ranks, graph))
    return NULL;
  placement = adj_placement_new (graph, ranks, (gint32) head.n_ranks);
  if (placement->first[graph->n_links] != head.n_via)
    return NULL;
  memcpy (placement->x, data + sizeof head + 4 * (gsize) n, 4 * (gsize) n);
  memcpy (placement->via, data + sizeof head + 8 * (gsize) n, 4 * (gsize) head.n_via);
  if (!all_finite (placement->x, n) || !all_finite (placement->via, head.n_via))
    return NULL;
  return g_steal_pointer (&placement);
}
