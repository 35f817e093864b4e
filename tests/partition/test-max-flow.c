/* SPDX-License-Identifier: MIT */
/* Minimum cuts against networkx (data/make-cuts.py) and against all subsets of the vertices. */

#include <gio/gio.h>
#include <glib.h>
#include <string.h>

#include "partition/max-flow.h"
#include "support/adj-test.h"

#define MAX_EDGES 64
#define MAX_BRUTE 9 /* number of vertices up to which every cut is tried */

typedef struct
{
  guint n, source, sink, n_edges;
  AdjFlowEdge edges[MAX_EDGES];
} Network;

static guint64
cut (const Network *network, AdjCutChoice choice, gint64 *value)
{
  guint8 side[64];
  guint64 mask = 0;

  *value = adj_min_cut (network->n, network->edges, network->n_edges, network->source,
                        network->sink, choice, NULL, side);
  for (guint v = 0; v < network->n; v++)
    mask |= (guint64) side[v] << v;
  return mask;
}

static void
measure (const Network *network, guint64 side, gint64 *capacity, gint64 *cost)
{
  *capacity = *cost = 0;
  for (guint e = 0; e < network->n_edges; e++)
    if ((side >> network->edges[e].from & 1) == 0 && (side >> network->edges[e].to & 1) != 0)
      {
        *capacity += network->edges[e].capacity;
        *cost += network->edges[e].cost;
      }
}

/* The best of all cuts: minimal capacity, then minimal cost, then fewest vertices on the sink's
 * side. */
static guint64
best_of_all (const Network *network, gboolean by_cost)
{
  guint64 best = G_MAXUINT64;
  gint64 least = G_MAXINT64, cheapest = G_MAXINT64;
  gint fewest = G_MAXINT;

  for (guint64 side = 0; side < (G_GUINT64_CONSTANT (1) << network->n); side++)
    {
      gint64 capacity, cost;
      gint size = __builtin_popcountll (side);

      if ((side >> network->source & 1) != 0 || (side >> network->sink & 1) == 0)
        continue;
      measure (network, side, &capacity, &cost);
      cost = by_cost ? cost : 0;
      if (capacity > least ||
          (capacity == least && (cost > cheapest || (cost == cheapest && size >= fewest))))
        continue;
      best = side;
      least = capacity;
      cheapest = cost;
      fewest = size;
    }
  return best;
}

static void
read_network (const char *line, Network *network, gint64 *value, guint64 *side)
{
  g_auto (GStrv) words = g_strsplit (line, " ", -1);

  network->n = atoi (words[0]);
  network->source = atoi (words[1]);
  network->sink = atoi (words[2]);
  network->n_edges = 0;
  *value = g_ascii_strtoll (words[3], NULL, 10);
  *side = g_ascii_strtoull (words[4], NULL, 10);
  for (char **word = words + 5; *word != NULL && **word != '\0'; word++)
    {
      AdjFlowEdge *edge = &network->edges[network->n_edges++];
      char *rest;

      g_assert_cmpuint (network->n_edges, <=, MAX_EDGES);
      edge->from = (guint32) strtoul (*word, &rest, 10);
      edge->to = (guint32) strtoul (rest + 1, &rest, 10);
      edge->capacity = g_ascii_strtoll (rest + 1, NULL, 10);
      edge->cost = (edge->from * 7 + edge->to * 3) % 11;
    }
}

static void
test_networkx (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "partition", "data", "cuts.txt.gz", NULL);
  g_autofree char *text = adj_test_read_packed (path);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0, n_brute = 0;

  for (; lines[n] != NULL && *lines[n] != '\0'; n++)
    {
      Network network;
      gint64 expected, value;
      guint64 side;

      read_network (lines[n], &network, &expected, &side);
      g_assert_cmpuint (cut (&network, ADJ_CUT_NEAREST_SINK, &value), ==, side);
      g_assert_cmpint (value, ==, expected);
      if (network.n > MAX_BRUTE)
        continue;
      n_brute++;
      g_assert_cmpuint (best_of_all (&network, FALSE), ==, side);
      g_assert_cmpuint (cut (&network, ADJ_CUT_CHEAPEST, &value), ==, best_of_all (&network, TRUE));
      g_assert_cmpint (value, ==, expected);
    }
  g_test_message ("%u networks as networkx has it, %u of them by trying every cut", n, n_brute);
  g_assert_cmpuint (n, ==, 10000);
}

/* Ten thousand more networks of 4 to 8 vertices, small enough to try every cut, with capacities
 * so small that cuts tie. */
static void
test_brute_force (void)
{
  const guint n_networks = 10000;
  g_autoptr (GRand) rand = g_rand_new_with_seed (8);
  guint n_ties = 0;

  for (guint i = 0; i < n_networks; i++)
    {
      Network network = { .n = (guint) g_rand_int_range (rand, 4, 9), .source = 0, .sink = 1 };
      gint64 value, cheap, capacity, cost;
      guint64 near, other;

      network.n_edges = (guint) g_rand_int_range (rand, 3, 3 * (gint) network.n);
      for (guint e = 0; e < network.n_edges; e++)
        network.edges[e] =
            (AdjFlowEdge){ .from = (guint32) g_rand_int_range (rand, 0, (gint) network.n),
                           .to = (guint32) g_rand_int_range (rand, 0, (gint) network.n),
                           .capacity = g_rand_int_range (rand, 0, 6),
                           .cost = g_rand_int_range (rand, 0, 6) };
      near = cut (&network, ADJ_CUT_NEAREST_SINK, &value);
      g_assert_cmpuint (near, ==, best_of_all (&network, FALSE));
      other = cut (&network, ADJ_CUT_CHEAPEST, &cheap);
      g_assert_cmpint (cheap, ==, value);
      g_assert_cmpuint (other, ==, best_of_all (&network, TRUE));
      measure (&network, other, &capacity, &cost);
      g_assert_cmpint (capacity, ==, value);
      n_ties += near != other;
    }
  g_test_message ("%u networks by trying every cut; in %u an equal cut costs less", n_networks,
                  n_ties);
  g_assert_cmpuint (n_ties, >, 0);
}

/* A long chain of layers, through all of which every unit of flow passes. */
static void
test_deep (void)
{
  const guint width = 16, depth = 4000, n = width * depth + 2;
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (AdjFlowEdge));
  g_autofree guint8 *side = g_new (guint8, n);
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);
  gint64 narrowest = G_MAXINT64;

  for (guint d = 0; d <= depth; d++)
    {
      gint64 sum = 0;

      for (guint w = 0; w < width; w++)
        {
          AdjFlowEdge edge = { .from = d == 0 ? 0 : 2 + (d - 1) * width + w,
                               .to = d == depth ? 1 : 2 + d * width + w,
                               .capacity = g_rand_int_range (rand, 1, 1000) };

          sum += edge.capacity;
          g_array_append_val (edges, edge);
          /* Within a layer flow can go to any vertex. */
          if (d < depth)
            {
              edge.from = 2 + d * width + w;
              edge.to = 2 + d * width + (w + 1) % width;
              edge.capacity = 1000000;
              g_array_append_val (edges, edge);
            }
        }
      narrowest = MIN (narrowest, sum);
    }
  g_assert_cmpint (adj_min_cut (n, (const AdjFlowEdge *) (gpointer) edges->data, edges->len, 0, 1,
                                ADJ_CUT_CHEAPEST, NULL, side),
                   ==, narrowest);
}

static void
test_cancel (void)
{
  const AdjFlowEdge edges[] = { { 0, 2, 3, 0 }, { 2, 1, 2, 0 } };
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  guint8 side[3];

  g_assert_cmpint (adj_min_cut (3, edges, 2, 0, 1, ADJ_CUT_CHEAPEST, cancellable, side), ==, 2);
  g_cancellable_cancel (cancellable);
  g_assert_cmpint (adj_min_cut (3, edges, 2, 0, 1, ADJ_CUT_CHEAPEST, cancellable, side), ==, -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/max-flow/equals-networkx-and-brute-force", test_networkx);
  g_test_add_func ("/partition/max-flow/10000-by-brute-force", test_brute_force);
  g_test_add_func ("/partition/max-flow/deep-pipe", test_deep);
  g_test_add_func ("/partition/max-flow/cancel", test_cancel);
  return g_test_run ();
}
