/* SPDX-License-Identifier: MIT */
/* I22 to I25 of partition/SPEC.md §6: cuts of random joint graphs, against all other choices and
 * against the same graph in another order. */

#include <glib.h>
#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-builder.h"
#include "ir/adj-compare.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"
#include "partition/cut-private.h"
#include "partition/max-flow.h"
#include "support/random-joint.h"

#ifdef __SANITIZE_ADDRESS__
#define N_GRAPHS 5000
#else
#define N_GRAPHS 300
#endif

#define MAX_BRUTE 12 /* number of saveable values up to which every choice is tried */

static Joint *
draw_joint (guint seed, AdjPartitionOptions *options, AdjGraph **graph)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint num_fwd_outputs;
  g_autoptr (GError) error = NULL;
  Joint *joint;

  *graph = adj_test_random_joint (rand, &num_fwd_outputs);
  options->num_fwd_outputs = (gint) num_fwd_outputs;
  joint = joint_new (*graph, options, &error);
  g_assert_no_error (error);
  return joint;
}

static void
test_weights_are_the_value (void)
{
  guint n = 0;

  for (guint i = 0; i < N_GRAPHS; i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      CutRules rules = cut_rules_from_options (&options);
      g_autoptr (AdjGraph) graph = NULL;
      g_autoptr (Joint) joint = draw_joint (i, &options, &graph);
      g_autoptr (Cut) cut = cut_solve (joint, &rules, NULL, NULL);
      gint64 sum = 0;

      if (cut == NULL)
        continue;
      for (guint k = 0; k < joint->n; k++)
        sum += cut->saved[k] ? cut->weight[k] : 0;
      g_assert_cmpint (sum, ==, cut->value);
      n++;
    }
  g_test_message ("I22: %u cuts", n);
  g_assert_cmpuint (n, >, N_GRAPHS / 2);
}

static gboolean
has_passage (const Joint *joint, guint i)
{
  return (!joint->in_backward[i] || joint_is_input (joint, i)) && !joint_must_recompute (joint, i);
}

/* Whether a value needed in backward can be computed only from banned nodes that are not in
 * @saved. */
static gboolean
leaks (const Joint *joint, const Cut *cut, const guint8 *saved)
{
  g_autofree guint8 *reached = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n; i++)
    {
      if (joint->gone[i] || i == joint->output)
        continue;
      reached[i] |= cut->ban[i] != ADJ_RULE_NONE;
      if (!reached[i])
        continue;
      if (!has_passage (joint, i))
        return TRUE;
      if (saved[i])
        continue;
      if (joint->in_backward[i])
        return TRUE;
      for (guint32 k = joint->users.begin[i]; k < joint->users.begin[i + 1]; k++)
        reached[joint->users.items[k]] = TRUE;
    }
  return FALSE;
}

/* The minimal weight over all choices of saved values; -1: too many to try. */
static gint64
cheapest_of_all (const Joint *joint, const Cut *cut)
{
  g_autoptr (GArray) choices = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree guint8 *saved = g_new0 (guint8, joint->n);
  gint64 best = G_MAXINT64;

  for (guint i = 0; i < joint->n; i++)
    if (!joint->gone[i] && i != joint->output && has_passage (joint, i) &&
        cut->weight[i] != CUT_NEVER)
      g_array_append_val (choices, i);
  if (choices->len > MAX_BRUTE)
    return -1;
  for (guint set = 0; set < 1u << choices->len; set++)
    {
      gint64 weight = 0;

      for (guint k = 0; k < choices->len; k++)
        {
          guint node = g_array_index (choices, guint, k);

          saved[node] = set >> k & 1;
          weight += saved[node] ? cut->weight[node] : 0;
        }
      if (weight < best && !leaks (joint, cut, saved))
        best = weight;
    }
  return best;
}

static void
test_nothing_is_cheaper (void)
{
  guint n_tried = 0;

  for (guint i = 0; i < N_GRAPHS; i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      CutRules rules = cut_rules_from_options (&options);
      g_autoptr (AdjGraph) graph = NULL;
      g_autoptr (Joint) joint = draw_joint (i, &options, &graph);
      g_autoptr (Cut) cut = cut_solve (joint, &rules, NULL, NULL);
      gint64 best;

      if (cut == NULL)
        continue;
      g_assert_false (leaks (joint, cut, cut->saved));
      best = cheapest_of_all (joint, cut);
      if (best < 0)
        continue;
      g_assert_cmpint (cut->value, ==, best);
      n_tried++;
    }
  g_test_message ("I23: %u of %u cuts against all choices", n_tried, N_GRAPHS);
  g_assert_cmpuint (n_tried, >, N_GRAPHS / 20);
}

/* The fewest vertices on the sink's side over all minimum cuts of the network. */
static guint
smallest_sink_side (GArray *edges, guint n_vertices, gint64 value)
{
  guint smallest = G_MAXUINT;

  for (guint set = 0; set < 1u << (n_vertices - 2); set++)
    {
      guint side = set << 2 | 2; /* vertex 1 is the sink, 0 the source */
      gint64 sum = 0;

      for (guint e = 0; e < edges->len; e++)
        {
          const AdjFlowEdge *edge = &g_array_index (edges, AdjFlowEdge, e);

          if ((side >> edge->from & 1) == 0 && (side >> edge->to & 1) != 0)
            sum += edge->capacity;
        }
      if (sum == value)
        smallest = MIN (smallest, (guint) __builtin_popcount (side));
    }
  return smallest;
}

static void
test_sink_side_is_least (void)
{
  guint n_tried = 0, n_ties = 0;

  for (guint i = 0; i < 10 * 300; i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjGraph) graph = NULL;
      g_autoptr (Joint) joint = NULL;
      g_autoptr (GArray) edges = NULL;
      guint8 side[16], cheap[16];
      guint n_vertices, size = 0, other = 0;
      CutRules rules;
      gint64 value;

      options.compat = TRUE;
      rules = cut_rules_from_options (&options);
      joint = draw_joint (i, &options, &graph);
      edges = cut_list_edges (joint, &rules, &n_vertices);
      if (edges == NULL || n_vertices > 14)
        continue;
      value = adj_min_cut (n_vertices, (const AdjFlowEdge *) (gpointer) edges->data, edges->len, 0,
                           1, ADJ_CUT_NEAREST_SINK, NULL, side);
      adj_min_cut (n_vertices, (const AdjFlowEdge *) (gpointer) edges->data, edges->len, 0, 1,
                   ADJ_CUT_CHEAPEST, NULL, cheap);
      for (guint v = 0; v < n_vertices; v++)
        {
          size += side[v];
          other += cheap[v];
        }
      g_assert_cmpuint (size, ==, smallest_sink_side (edges, n_vertices, value));
      n_ties += other != size;
      n_tried++;
    }
  g_test_message ("I24: %u networks, every cut of each; %u have another minimum cut that keeps "
                  "fewer bytes",
                  n_tried, n_ties);
  g_assert_cmpuint (n_tried, >, 100);
}

/* Returns @graph with its nodes in another valid order. */
static AdjGraph *
permute (AdjGraph *graph, GRand *rand)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autoptr (AdjBuilder) builder =
      adj_builder_new ("joint", adj_graph_get_symbols (graph), adj_op_find);
  g_autofree AdjNodeId *map = g_new0 (AdjNodeId, n);
  g_autofree guint *missing = g_new0 (guint, n);
  g_autoptr (GArray) ready = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autoptr (GError) error = NULL;
  AdjGraph *permuted;

  for (guint i = 0; i + 1 < n; i++)
    {
      missing[i] = adj_graph_get_node (graph, i)->n_inputs;
      if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_PLACEHOLDER)
        adj_builder_copy (builder, graph, i, map);
      else if (missing[i] == 0)
        g_array_append_val (ready, i);
    }
  for (guint i = 0; i < adj_graph_get_n_inputs (graph); i++)
    for (guint k = 0; k < adj_graph_get_node (graph, i)->n_users; k++)
      {
        guint user = adj_graph_get_node (graph, i)->users[k].index;

        if (--missing[user] == 0 && user + 1 < n)
          g_array_append_val (ready, user);
      }
  while (ready->len > 0)
    {
      guint at = (guint) g_rand_int_range (rand, 0, (gint) ready->len);
      guint node = g_array_index (ready, guint, at);

      g_array_remove_index_fast (ready, at);
      adj_builder_copy (builder, graph, node, map);
      for (guint k = 0; k < adj_graph_get_node (graph, node)->n_users; k++)
        {
          guint user = adj_graph_get_node (graph, node)->users[k].index;

          if (--missing[user] == 0 && user + 1 < n)
            g_array_append_val (ready, user);
        }
    }
  adj_builder_copy (builder, graph, n - 1, map);
  permuted = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return permuted;
}

/* Rules for distant users and for long chains count positions, and merging keeps the first of
 * equal calls with its tag: results of these may depend on the order. */
static void
test_order_does_not_matter (void)
{
  guint n_same = 0, n_moved = 0;

  for (guint i = 0; i < N_GRAPHS; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (i);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) graph = adj_test_random_joint (rand, &num_fwd_outputs);
      g_autoptr (AdjGraph) permuted = permute (graph, rand);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) a = NULL;
      g_autoptr (AdjPartition) b = NULL;

      options.num_fwd_outputs = (gint) num_fwd_outputs;
      options.no_far = options.no_long = options.no_cse = TRUE;
      a = adj_partition (adj_partitioner_find ("min-cut", NULL), graph, &options, NULL);
      b = adj_partition (adj_partitioner_find ("min-cut", NULL), permuted, &options, NULL);
      g_assert_cmpint (a != NULL, ==, b != NULL);
      if (a == NULL)
        continue;
      g_assert_cmpint (a->cut_value, ==, b->cut_value);
      n_same++;
      n_moved += !adj_graph_equal_structure (graph, permuted);
    }
  g_test_message ("I25: %u graphs, %u of them in another order", n_same, n_moved);
  g_assert_cmpuint (n_moved, >, N_GRAPHS / 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/invariants/I22", test_weights_are_the_value);
  g_test_add_func ("/partition/invariants/I23", test_nothing_is_cheaper);
  g_test_add_func ("/partition/invariants/I24", test_sink_side_is_least);
  g_test_add_func ("/partition/invariants/I25", test_order_does_not_matter);
  return g_test_run ();
}
