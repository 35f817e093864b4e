/* SPDX-License-Identifier: MIT */
/* The order of a captured backward: a linked list of nodes with comparable keys. */

#include "compiled_autograd/order-private.h"
#include "ir/adj-graph.h"

static void
order_number (Order *order)
{
  double key = 0;

  for (guint i = order->first; i != G_MAXUINT; i = order->places[i].next)
    order->places[i].key = key += 1;
}

void
order_init (Order *order, const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);

  order->graph = graph;
  order->places = g_new0 (Place, n + 1);
  order->moved = g_array_new (FALSE, FALSE, sizeof (guint));
  for (guint i = 0; i < n; i++)
    order->places[i] = (Place){ i > 0 ? i - 1 : G_MAXUINT, i + 1 < n ? i + 1 : G_MAXUINT, 0 };
  order_number (order);
}

void
order_clear (Order *order)
{
  g_free (order->places);
  g_array_unref (order->moved);
}

void
order_move (Order *order, guint node, guint after)
{
  Place *places = order->places;
  Place *place = &places[node];

  if (node == after || place->previous == after)
    return;
  g_array_append_val (order->moved, node);
  if (place->previous != G_MAXUINT)
    places[place->previous].next = place->next;
  else
    order->first = place->next;
  if (place->next != G_MAXUINT)
    places[place->next].previous = place->previous;
  place->previous = after;
  place->next = places[after].next;
  places[after].next = node;
  if (place->next == G_MAXUINT)
    {
      place->key = places[after].key + 1;
      return;
    }
  places[place->next].previous = node;
  place->key = (places[after].key + places[place->next].key) / 2;
  if (place->key <= places[after].key || place->key >= places[place->next].key)
    order_number (order);
}

void
order_move_before (Order *order, guint node, guint before)
{
  if (order->places[before].previous != node)
    order_move (order, node, order->places[before].previous);
}

guint
order_get_later (const Order *order, guint a, guint b)
{
  return order->places[a].key >= order->places[b].key ? a : b;
}
