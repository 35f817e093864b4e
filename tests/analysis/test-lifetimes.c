/* SPDX-License-Identifier: MIT */
/* Tests of adj-lifetimes.c: lifetimes and live bytes against a slower computation, and sums that
 * overflow. */

#include "analysis/adj-aliases.h"
#include "analysis/adj-lifetimes.h"
#include "analysis/adj-node-bytes.h"
#include "ir/adj-graph.h"
#include "support/graphs.h"
#include "support/random-graph.h"
#include "support/random-joint.h"

#define N_SEEDS 60

/* -- against a slower way to the same -- */

static guint
find_owner (const AdjGraph *graph, guint index)
{
  const AdjAlias *alias = &adj_graph_get_aliases (graph)[index];

  if (alias->must != index)
    return find_owner (graph, alias->must);
  if (alias->kind == ADJ_ALIAS_ITEM &&
      adj_graph_get_node (graph, alias->base)->val.kind != ADJ_VALUE_NONE)
    return find_owner (graph, alias->base);
  return index;
}

typedef struct
{
  const AdjGraph *graph;
  guint owner;
  gboolean found;
} Reading;

static gboolean
see_argument (const AdjValue *leaf, gpointer data)
{
  Reading *reading = data;

  reading->found |= leaf->kind == ADJ_VALUE_NODE &&
                    find_owner (reading->graph, leaf->node.index) == reading->owner;
  return TRUE;
}

/* Whether @step reads the storage of @owner or makes a view of it. */
static gboolean
needs (const AdjGraph *graph, guint step, guint owner)
{
  const AdjNode *node = adj_graph_get_node (graph, step);
  Reading reading = { graph, owner, find_owner (graph, step) == owner };

  adj_value_foreach (&node->args, see_argument, &reading);
  adj_value_foreach (&node->kwargs, see_argument, &reading);
  return reading.found;
}

static void
check_lifetimes (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  const AdjLifetime *lifetimes = adj_graph_get_lifetimes (graph);
  const AdjNodeBytes *bytes = adj_graph_get_bytes (graph);

  for (guint i = 0; i < n; i++)
    {
      const AdjLifetime *lifetime = &lifetimes[i];
      gboolean input = adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_PLACEHOLDER;
      guint last = n - 1;

      g_assert_cmpuint (lifetime->owner, ==, find_owner (graph, i));
      g_assert_cmpuint (lifetime->bytes, ==, lifetime->owner == i ? bytes[i].bytes : 0);
      g_assert_cmpuint (lifetime->in_float64, ==, lifetime->owner == i ? bytes[i].in_float64 : 0);
      g_assert_cmpuint (lifetime->first, ==, input ? 0 : i);
      while (lifetime->owner == i && !needs (graph, last, i))
        last--;
      if (lifetime->owner == i)
        g_assert_cmpuint (lifetime->last, ==, last);
    }
}

/* Compares the sums with those computed by testing each step against each node. */
static void
check_sums (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph), peak, expected = 0;
  const AdjLifetime *lifetimes = adj_graph_get_lifetimes (graph);
  g_autofree AdjLiveRange *ranges = g_new (AdjLiveRange, n);
  g_autofree double *sums = g_new0 (double, n);
  g_autofree guint64 *live = NULL;
  guint n_ranges = 0;

  for (guint i = 0; i < n; i++)
    if (lifetimes[i].owner == i)
      ranges[n_ranges++] =
          (AdjLiveRange){ lifetimes[i].first, lifetimes[i].last, lifetimes[i].bytes };
  live = adj_live_ranges_add_up (ranges, n_ranges, n, &peak);
  for (guint step = 0; step < n; step++)
    {
      for (guint i = 0; i < n_ranges; i++)
        if (ranges[i].first <= step && step <= ranges[i].last)
          sums[step] += (double) ranges[i].bytes;
      g_assert_cmpfloat ((double) live[step], ==, sums[step]);
      if (sums[step] > sums[expected])
        expected = step;
    }
  g_assert_cmpuint (peak, ==, expected);
  g_assert_cmpuint (live[n], ==, 0);
}

static void
random_graphs (void)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autoptr (AdjGraph) graph = adj_test_random_graph (rand, 24);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);

      check_lifetimes (graph);
      check_lifetimes (joint);
      check_sums (graph);
      check_sums (joint);
    }
}

/* -- cases -- */

static guint
find (const AdjGraph *graph, const char *name)
{
  return adj_graph_find_node (graph, name).index;
}

/* The last reader of a view, of one of several results, and of a value that is never read. */
static void
last_readers (void)
{
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (
      "def forward(self, x: \"f32[2, 3][3, 1]cpu\", unread: \"f32[4][1]cpu\"):\n"
      "    made: \"f32[2, 3][3, 1]cpu\" = torch.ops.aten.sin.default(x)\n"
      "    shown: \"f32[6][1]cpu\" = torch.ops.aten.view.default(made, [6])\n"
      "    pair = torch.ops.aten.var_mean.correction(x)"
      "  # adj: {val: (meta('f32[]'), meta('f32[]'))}\n"
      "    mean: \"f32[][]cpu\" = pair[1]\n"
      "    lost: \"f32[6][1]cpu\" = torch.ops.aten.neg.default(shown)\n"
      "    sum: \"f32[][]cpu\" = torch.ops.aten.neg.default(mean)\n"
      "    return (sum,)\n");
  const AdjLifetime *lifetimes = adj_graph_get_lifetimes (graph);
  const AdjLifetime *made = &lifetimes[find (graph, "made")];
  const AdjLifetime *pair = &lifetimes[find (graph, "pair")];

  g_assert_cmpuint (made->first, ==, find (graph, "made"));
  g_assert_cmpuint (made->last, ==, find (graph, "lost"));
  g_assert_cmpuint (made->bytes, ==, 24);
  g_assert_cmpuint (made->in_float64, ==, 48);
  g_assert_cmpuint (lifetimes[find (graph, "shown")].owner, ==, find (graph, "made"));
  g_assert_cmpuint (pair->last, ==, find (graph, "sum"));
  g_assert_cmpuint (pair->bytes, ==, 8);
  g_assert_cmpuint (lifetimes[find (graph, "mean")].owner, ==, find (graph, "pair"));
  g_assert_cmpuint (lifetimes[find (graph, "lost")].last, ==, find (graph, "lost"));
  g_assert_cmpuint (lifetimes[find (graph, "unread")].first, ==, 0);
  g_assert_cmpuint (lifetimes[find (graph, "unread")].last, ==, find (graph, "unread"));
}

static void
sums_that_do_not_fit (void)
{
  const guint64 half = G_MAXUINT64 / 2 + 1;
  const AdjLiveRange apart[] = { { 0, 1, half }, { 2, 3, half }, { 3, 3, 1 } };
  const AdjLiveRange together[] = { { 0, 1, half }, { 1, 2, half }, { 2, 3, 1 } };
  g_autofree guint64 *fits = NULL;
  g_autofree guint64 *does_not = NULL;
  g_autofree guint64 *nothing = NULL;
  guint peak;

  fits = adj_live_ranges_add_up (apart, 3, 4, &peak);
  g_assert_cmpuint (peak, ==, 3);
  g_assert_cmpuint (fits[3], ==, half + 1);
  does_not = adj_live_ranges_add_up (together, 3, 4, &peak);
  g_assert_cmpuint (peak, ==, 1);
  g_assert_cmpuint (does_not[0], ==, half);
  g_assert_cmpuint (does_not[3], ==, G_MAXUINT64);
  nothing = adj_live_ranges_add_up (NULL, 0, 0, &peak);
  g_assert_cmpuint (peak, ==, 0);
  g_assert_cmpuint (nothing[peak], ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/analysis/lifetimes/random-graphs", random_graphs);
  g_test_add_func ("/analysis/lifetimes/last-readers", last_readers);
  g_test_add_func ("/analysis/lifetimes/sums-that-do-not-fit", sums_that_do_not_fit);
  return g_test_run ();
}
