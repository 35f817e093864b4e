/* SPDX-License-Identifier: MIT */
/* Random joint graphs: the numbered invariants of partition/SPEC.md §6 for every partitioner,
 * budget and tag.  All graphs are partitioned and run once; each test reports what was observed.
 * (test-verify checks that a violation is detected.) */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "call/adj-op.h"
#include "ir/adj-graph.h"
#include "layers.h"
#include "pair-run.h"
#include "partition/invariants-private.h"
#include "partition/knapsack.h"
#include "partition/liveness-private.h"
#include "partition/partitioners-private.h"
#include "support/random-joint.h"

#ifdef __SANITIZE_ADDRESS__
#define N_GRAPHS 5000
#else
#define N_GRAPHS 300
#endif

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

/* Observations of one invariant. */
typedef struct
{
  guint64 n_cases;
  char *broken; /* (nullable): the first violation */
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

/* I1 to I20, I31: every row of the table that debug builds check. */
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

/* I27: repeating the partition gives the same result. */
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
  /* Nodes that must be saved and nodes that must be recomputed can contradict each other. */
  if (g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED))
    return;
  g_assert_no_error (error);
  n_partitions++;
  examine (partition, &options, seed);
  if (seed % 10 == 0)
    check_same_again (partition, &options, seed);
  /* PyTorch's way of repeating random operators may give other numbers. */
  if (!way->compat || !has_random (joint))
    check_run (partition, inputs, n, seed);
}

/* I21: other random tags, given as demands, change no computed value. */
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
            /* Each item is either kept or not. */
            g_assert_cmpuint (keep[k], <=, 1);
            sum += keep[k] ? items[k].value : 0;
            memory += keep[k] ? items[k].memory : 0;
          }
        g_assert_cmpfloat_with_epsilon (sum, value, 1e-6);
        g_assert_cmpfloat (memory, <=, capacity + 1e-4);
      }
}

/* -- I33: the order of backward -- */

/* Eight layers in four regions: values between regions are kept, all others recomputed. */
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

/* Invariants about two runs or two plans are observed in the survey or have their own tests. */
static GTestFunc
test_of_its_own (guint number)
{
  switch (number)
    {
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

/* Whether test-cut-invariants.c tests it. */
static gboolean
is_of_cut (guint number)
{
  return number >= 22 && number <= 25;
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  for (guint i = 1; i <= N_INVARIANTS; i++)
    {
      g_autofree char *path = g_strdup_printf ("/partition/invariants/I%u", i);

      if (is_of_cut (i))
        continue;
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
