/* SPDX-License-Identifier: MIT */
/* Joint graphs drawn at random: the invariants of partition/SPEC.md §6 by their numbers, under
 * every partitioner, budget and tag.  All graphs are partitioned and run once; each test reads off
 * what was seen.  (That breaking one is noticed: test-verify.) */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "layers.h"
#include "ops/adj-op-table.h"
#include "pair-run.h"
#include "partition/cut-private.h"
#include "partition/invariants-private.h"
#include "partition/knapsack.h"
#include "partition/liveness-private.h"
#include "partition/max-flow.h"
#include "partition/partitioners-private.h"
#include "support/random-joint.h"

#ifdef __SANITIZE_ADDRESS__
#define N_GRAPHS 5000
#else
#define N_GRAPHS 300
#endif

#define MAX_BRUTE 12 /* values that may be saved, where every choice is tried */
#define N_INVARIANTS 33

typedef struct
{
  const char *partitioner;
  double budget;
  gboolean compat;
} Way;

static const Way ways[] = {
  { "default", 1, FALSE }, { "min-cut", 1, FALSE },    { "min-cut", 0.5, FALSE },
  { "min-cut", 0, FALSE }, { "min-cut", 1, TRUE },     { "min-cut", 0.3, TRUE },
  { "min-cut", 0, TRUE },  { "optimal", 0.75, FALSE },
};

/* What was seen of one invariant. */
typedef struct
{
  guint64 n_cases;
  char *broken; /* (nullable): the first time that it did not hold */
} Seen;

static Seen seen[N_INVARIANTS + 1];
static guint n_partitions;

static void G_GNUC_PRINTF (4, 5)
    note (guint number, guint n_cases, gboolean holds, const char *format, ...)
{
  va_list args;

  seen[number].n_cases += n_cases;
  if (holds || seen[number].broken != NULL)
    return;
  va_start (args, format);
  seen[number].broken = g_strdup_vprintf (format, args);
  va_end (args);
}

static gboolean
has_random (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->op != NULL &&
        (adj_graph_get_node (graph, i)->op->flags & ADJ_OP_RANDOM) != 0)
      return TRUE;
  return FALSE;
}

/* I1 to I20, I31: every row of the table that debug builds walk. */
static void
examine (const AdjPartition *partition, const AdjPartitionOptions *options, guint seed)
{
  g_autoptr (Examined) examined = examined_new (partition, options);

  for (guint i = 0; i < invariants_get_n (); i++)
    {
      const Invariant *invariant = invariants_get (i);
      guint number = (guint) atoi (invariant->id + 1), n_cases = 0;
      const char *where = invariant->examine (examined, &n_cases);

      note (number, n_cases, where == NULL, "graph %u, %s at %g: '%s'", seed,
            partition->partitioner, options->budget, where);
    }
}

/* I27: the same again. */
static void
check_same_again (const AdjPartition *a, const AdjPartitionOptions *options, guint seed)
{
  g_autoptr (AdjPartition) b = partition_run (a->partitioner, a->joint, options);
  g_autofree char *first = partition_print_saved (a);
  g_autofree char *second = partition_print_saved (b);

  note (27, 1,
        g_str_equal (first, second) && adj_graph_equal_structure (a->forward, b->forward) &&
            adj_graph_equal_structure (a->backward, b->backward),
        "graph %u: %s, then %s", seed, first, second);
}

/* I28, I29 and I30. */
static void
check_run (const AdjPartition *partition, const AdjValue *inputs, guint n, guint seed)
{
  PairRun run;

  pair_run (partition, inputs, n, seed, &run);
  note (28, 1, run.same_outputs, "graph %u, %s", seed, partition->partitioner);
  note (29, run.n_repeated, run.same_again, "graph %u, %s: '%s'", seed, partition->partitioner,
        run.where);
  if (has_random (partition->joint))
    note (30, run.n_random, run.same_generator && run.same_again, "graph %u, %s", seed,
          partition->partitioner);
  pair_run_clear (&run);
}

static void
survey_way (
    AdjGraph *joint, const Way *way, const AdjValue *inputs, guint n, gint n_outputs, guint seed)
{
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;

  options.num_fwd_outputs = n_outputs;
  options.budget = way->budget;
  options.compat = way->compat;
  options.effort = 40;
  partition =
      adj_partition (adj_partitioner_find (way->partitioner, NULL), joint, &options, &error);
  /* What must be kept and what must be recomputed can exclude each other. */
  if (g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return;
  g_assert_no_error (error);
  n_partitions++;
  examine (partition, &options, seed);
  if (seed % 10 == 0)
    check_same_again (partition, &options, seed);
  /* PyTorch's way of repeating random operators is another matter. */
  if (!way->compat || !has_random (joint))
    check_run (partition, inputs, n, seed);
}

/* I21: tags drawn anew, as demands, change nothing that is computed. */
static void
check_other_tags (AdjGraph *joint, const AdjValue *inputs, guint n, gint n_outputs, guint seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + 1000000);
  g_autoptr (GArray) demands = g_array_new (FALSE, FALSE, sizeof (AdjPartitionDemand));
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;
  PairRun run;

  for (guint i = 0; i < adj_graph_get_n_nodes (joint); i++)
    if (adj_graph_get_node (joint, i)->opcode == ADJ_OPCODE_CALL_FUNCTION &&
        g_rand_int_range (rand, 0, 3) == 0)
      {
        AdjPartitionDemand demand = { adj_graph_get_node (joint, i)->name,
                                      (AdjRecompute) g_rand_int_range (rand, ADJ_RECOMPUTE_NONE,
                                                                       ADJ_N_RECOMPUTE) };

        g_array_append_val (demands, demand);
      }
  options.num_fwd_outputs = n_outputs;
  options.n_demands = demands->len;
  options.demands = (const AdjPartitionDemand *) (gpointer) demands->data;
  partition = adj_partition (adj_partitioner_find ("min-cut", NULL), joint, &options, &error);
  if (g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return;
  g_assert_no_error (error);
  pair_run (partition, inputs, n, seed, &run);
  note (21, 1, run.same_outputs && run.same_again && run.same_generator, "graph %u", seed);
  pair_run_clear (&run);
}

static void
survey (void)
{
  for (guint i = 0; i < N_GRAPHS; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (i);
      guint num_fwd_outputs, n;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &num_fwd_outputs);
      g_autoptr (GError) error = NULL;
      AdjValue *inputs = adj_session_random_inputs (joint, i, &n, &error);

      g_assert_no_error (error);
      for (guint w = 0; w < G_N_ELEMENTS (ways); w++)
        survey_way (joint, &ways[w], inputs, n, (gint) num_fwd_outputs, i);
      check_other_tags (joint, inputs, n, (gint) num_fwd_outputs, i);
      for (guint k = 0; k < n; k++)
        adj_value_clear (&inputs[k]);
      g_free (inputs);
    }
}

static void
test_seen (gconstpointer data)
{
  guint number = GPOINTER_TO_UINT (data);

  if (n_partitions == 0)
    survey ();
  g_test_message ("I%u: %" G_GUINT64_FORMAT " cases in %u partitions of %u joint graphs", number,
                  seen[number].n_cases, n_partitions, N_GRAPHS);
  g_assert_cmpstr (seen[number].broken, ==, NULL);
  g_assert_cmpuint (seen[number].n_cases, >, 0);
}

/* -- I22 to I25: the cut -- */

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

/* Whether something wanted in backward can only come from what is banned and not @saved. */
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

/* The least weight of all choices of saved values; -1: too many to try. */
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

/* Of all minimum cuts of the network: the fewest vertices on the sink's side. */
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

/* The nodes of @graph in another order that their arguments allow. */
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

/* The rules for what is used far apart and for long chains count positions, and merging keeps the
 * first of equal calls with its tag: those ask for the order. */
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

/* -- I26: what does not hold, lest someone assert it -- */

static void
test_not_invariants (void)
{
  static const double budgets[] = { 1, 0.75, 0.5, 0.25, 0.1, 0 };
  g_autoptr (AdjGraph) layers = layers_new (8);
  guint n_more = 0, n_rises = 0;
  guint64 before = G_MAXUINT64;

  for (guint i = 0; i < 300; i++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (i);
      guint num_fwd_outputs;
      g_autoptr (AdjGraph) graph = adj_test_random_joint (rand, &num_fwd_outputs);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) by_cut = NULL;
      g_autoptr (AdjPartition) by_default = NULL;

      options.num_fwd_outputs = (gint) num_fwd_outputs;
      options.compat = TRUE;
      by_cut = adj_partition (adj_partitioner_find ("min-cut", NULL), graph, &options, NULL);
      by_default = adj_partition (adj_partitioner_find ("default", NULL), graph, &options, NULL);
      n_more +=
          by_cut != NULL && by_default != NULL && by_cut->counted_bytes > by_default->counted_bytes;
    }
  for (guint i = 0; i < G_N_ELEMENTS (budgets); i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) partition = NULL;

      options.num_fwd_outputs = 1;
      options.compat = TRUE;
      options.budget = budgets[i];
      partition = partition_run ("min-cut", layers, &options);
      n_rises += partition->cost.peak > before;
      before = partition->cost.peak;
    }
  g_test_message ("I26: PyTorch's cut keeps more bytes than its default on %u of 300 graphs; with "
                  "a smaller budget the peak rises %u times on 8 layers",
                  n_more, n_rises);
  g_assert_cmpuint (n_more, >, 0);
  g_assert_cmpuint (n_rises, >=, 3);
}

/* -- I32: a knapsack's choice -- */

static void
test_knapsack_covers (void)
{
  static const AdjKnapsackSolver solvers[] = { adj_knapsack_dp, adj_knapsack_greedy,
                                               adj_knapsack_exact };
  g_autoptr (GRand) rand = g_rand_new_with_seed (32);

  for (guint i = 0; i < 300; i++)
    for (guint s = 0; s < G_N_ELEMENTS (solvers); s++)
      {
        AdjKnapsackItem items[12];
        guint8 keep[12];
        guint n = (guint) g_rand_int_range (rand, 0, 13);
        double value, sum = 0, memory = 0, capacity = g_rand_double (rand);

        memset (keep, 7, sizeof keep);
        for (guint k = 0; k < n; k++)
          items[k] = (AdjKnapsackItem){ g_rand_int_range (rand, 1, 4000) / 10000.0,
                                        g_rand_int_range (rand, 0, 9) };
        value = solvers[s](items, n, capacity, keep);
        for (guint k = 0; k < n; k++)
          {
            /* Kept, or not: each item is one of both. */
            g_assert_cmpuint (keep[k], <=, 1);
            sum += keep[k] ? items[k].value : 0;
            memory += keep[k] ? items[k].memory : 0;
          }
        g_assert_cmpfloat_with_epsilon (sum, value, 1e-6);
        g_assert_cmpfloat (memory, <=, capacity + 1e-4);
      }
}

/* -- I33: the order of backward -- */

/* Eight layers in four regions: what is between regions is kept, the rest repeated. */
static Plan *
plan_regions (const Joint *joint, const AdjPartitionOptions *options, gboolean keeps_order)
{
  g_autoptr (GError) error = NULL;
  Plan *plan = min_cut_plan (joint, options, &error);

  g_assert_no_error (error);
  plan->keeps_order = keeps_order;
  plan_complete (plan, &error);
  g_assert_no_error (error);
  return plan;
}

static int
compare_words (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static void
test_reorder (void)
{
  g_autoptr (AdjGraph) graph = layers_new (8);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  AdjPartitionDemand demands[16];
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  AdjPartitionCost costs[2] = { 0 };
  g_autoptr (Joint) joint = NULL;
  g_autoptr (Plan) as_it_stands = NULL;
  g_autoptr (Plan) reordered = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 8; i++)
    {
      g_ptr_array_add (names, layers_name ("mm", i));
      demands[2 * i] = (AdjPartitionDemand){ names->pdata[2 * i], ADJ_RECOMPUTE_PREFER_RECOMPUTE };
      g_ptr_array_add (names, layers_name ("gelu", i));
      demands[2 * i + 1] =
          (AdjPartitionDemand){ names->pdata[2 * i + 1], i % 2 == 1 && i < 7
                                                             ? ADJ_RECOMPUTE_MUST_SAVE
                                                             : ADJ_RECOMPUTE_PREFER_RECOMPUTE };
    }
  options.num_fwd_outputs = 1;
  options.compat = TRUE;
  options.demands = demands;
  options.n_demands = G_N_ELEMENTS (demands);
  joint = joint_new (graph, &options, &error);
  g_assert_no_error (error);
  as_it_stands = plan_regions (joint, &options, TRUE);
  reordered = plan_regions (joint, &options, FALSE);
  cost_of_plan (as_it_stands, FALSE, &costs[0]);
  cost_of_plan (reordered, FALSE, &costs[1]);
  g_test_message ("I33: peak of backward %g MiB as it stands, %g reordered",
                  (double) costs[0].backward.peak / MIB, (double) costs[1].backward.peak / MIB);
  g_assert_cmpfloat ((double) costs[0].backward.peak, >=, 32 * MIB);
  g_assert_cmpfloat ((double) costs[1].backward.peak, ==, 16 * MIB);
  g_array_sort (as_it_stands->order, compare_words);
  g_array_sort (reordered->order, compare_words);
  g_assert_cmpmem (as_it_stands->order->data, as_it_stands->order->len * sizeof (guint32),
                   reordered->order->data, reordered->order->len * sizeof (guint32));
  g_assert_cmpmem (as_it_stands->tensors->data, as_it_stands->tensors->len * sizeof (guint32),
                   reordered->tensors->data, reordered->tensors->len * sizeof (guint32));
  adj_partition_cost_clear (&costs[0]);
  adj_partition_cost_clear (&costs[1]);
}

/* Those that two runs or two plans decide are seen in the survey, or have tests of their own. */
static GTestFunc
test_of_its_own (guint number)
{
  switch (number)
    {
    case 22:
      return test_weights_are_the_value;
    case 23:
      return test_nothing_is_cheaper;
    case 24:
      return test_sink_side_is_least;
    case 25:
      return test_order_does_not_matter;
    case 26:
      return test_not_invariants;
    case 32:
      return test_knapsack_covers;
    case 33:
      return test_reorder;
    default:
      return NULL;
    }
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  for (guint i = 1; i <= N_INVARIANTS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/invariants/I%u", i);

      if (test_of_its_own (i) != NULL)
        g_test_add_func (path, test_of_its_own (i));
      else
        g_test_add_data_func (path, GUINT_TO_POINTER (i), test_seen);
    }
  status = g_test_run ();
  for (guint i = 0; i <= N_INVARIANTS; i++)
    g_free (seen[i].broken);
  return status;
}
