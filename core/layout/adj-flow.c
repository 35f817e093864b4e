/* SPDX-License-Identifier: MIT */
/* The neighbourhood of a node: its ancestors and descendants, ring by ring. */

#include <string.h>

#include "ir/adj-graph.h"
#include "layout/adj-layout.h"

typedef struct
{
  const AdjGraph *graph;
  guint8 *seen; /* by node */
  GArray *found;
  guint max;
} Search;

static void
take (Search *self, GArray *ring, guint32 index)
{
  if (self->seen[index] || self->found->len >= self->max)
    return;
  self->seen[index] = TRUE;
  g_array_append_val (self->found, index);
  g_array_append_val (ring, index);
}

/* The next ring of ancestors or of descendants; descendants end at the output node. */
static GArray *
step (Search *self, const GArray *ring, gboolean up)
{
  GArray *next = g_array_new (FALSE, FALSE, sizeof (guint32));

  for (guint i = 0; i < ring->len; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, g_array_index (ring, guint32, i));

      for (guint k = 0; k < (up ? node->n_inputs : node->n_users); k++)
        take (self, next, up ? node->inputs[k].index : node->users[k].index);
    }
  return next;
}

static gint
by_index (gconstpointer a, gconstpointer b)
{
  guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;

  return i < j ? -1 : i > j;
}

GArray *
adj_flow_collect (const AdjGraph *graph, AdjNodeId node, guint max)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint8 *seen = g_new0 (guint8, n);
  Search self = { graph, seen, g_array_new (FALSE, FALSE, sizeof (guint32)), max };
  GArray *up = g_array_new (FALSE, FALSE, sizeof (guint32));
  GArray *down = g_array_new (FALSE, FALSE, sizeof (guint32));

  take (&self, up, node.index);
  g_array_append_val (down, node.index);
  while (up->len + down->len > 0 && self.found->len < max)
    {
      GArray *higher = step (&self, up, TRUE), *lower = step (&self, down, FALSE);

      g_array_unref (up);
      g_array_unref (down);
      up = higher;
      down = lower;
    }
  g_array_unref (up);
  g_array_unref (down);
  g_array_sort (self.found, by_index);
  return self.found;
}
