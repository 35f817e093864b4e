/* SPDX-License-Identifier: MIT */
/* Peaks of memory: layers for which all plans are known, memory limits, and the Pareto curve. */

#include <gio/gio.h>
#include <glib.h>
#include <math.h>
#include <string.h>

#include "golden.h"
#include "ir/adj-graph.h"
#include "layers.h"
#include "partition-test.h"
#include "partition/adj-pareto.h"
#include "support/random-joint.h"

#define N_RANDOM 300 /* number of joint graphs */

/* Measured on PyTorch 2.6's plans: MiB saved, GFLOP repeated, peaks of both graphs. */
static void
test_budgets (void)
{
  static const struct
  {
    double budget, saved, gflop, forward, backward;
  } rows[] = {
    { 1, 30, 0, 32, 34 },      { 0.75, 16, 0, 18, 20 }, { 0.5, 14, 0.54, 18, 22 },
    { 0.25, 6, 2.68, 10, 30 }, { 0.1, 2, 3.76, 6, 34 }, { 0, 0, 4.29, 4, 34 },
  };
  g_autoptr (AdjGraph) joint = layers_new (8);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) partition = NULL;
      const AdjPartitionCost *cost;

      options.num_fwd_outputs = 1;
      options.compat = TRUE;
      options.budget = rows[i].budget;
      partition = partition_run ("min-cut", joint, &options);
      cost = &partition->cost;
      g_assert_cmpfloat ((double) partition->saved_bytes, ==, rows[i].saved * MIB);
      g_assert_cmpfloat_with_epsilon (cost->recompute_flops / 1e9, rows[i].gflop, 0.005);
      g_assert_cmpfloat ((double) cost->forward.peak, ==, rows[i].forward * MIB);
      g_assert_cmpfloat ((double) cost->backward.peak, ==, rows[i].backward * MIB);
    }
}

/* The lowest peak of all plans that save, for each layer, nothing, the product or the
 * activation, and repeat at most @n_products. */
static guint64
lowest_of_all (AdjGraph *joint, guint n_layers, guint n_products)
{
  g_autofree AdjPartitionDemand *demands = g_new0 (AdjPartitionDemand, 2 * n_layers);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  guint64 lowest = G_MAXUINT64;
  guint n_plans = 1;

  for (guint i = 0; i < n_layers; i++, n_plans *= 3)
    {
      g_ptr_array_add (names, layers_name ("mm", i));
      demands[2 * i].node = names->pdata[2 * i];
      g_ptr_array_add (names, layers_name ("gelu", i));
      demands[2 * i + 1].node = names->pdata[2 * i + 1];
    }
  for (guint plan = 0; plan < n_plans; plan++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) partition = NULL;

      for (guint i = 0, rest = plan; i < n_layers; i++, rest /= 3)
        {
          demands[2 * i].recompute =
              rest % 3 == 1 ? ADJ_RECOMPUTE_MUST_SAVE : ADJ_RECOMPUTE_MUST_RECOMPUTE;
          demands[2 * i + 1].recompute =
              rest % 3 == 2 ? ADJ_RECOMPUTE_MUST_SAVE : ADJ_RECOMPUTE_MUST_RECOMPUTE;
        }
      options.num_fwd_outputs = 1;
      options.demands = demands;
      options.n_demands = 2 * n_layers;
      partition = partition_run ("min-cut", joint, &options);
      if (partition->cost.recompute_flops <= n_products * PRODUCT)
        lowest = MIN (lowest, partition->cost.peak);
    }
  return lowest;
}

static void
test_exhaustive (void)
{
  const guint n_layers = 4;
  g_autoptr (AdjGraph) joint = layers_new (n_layers);

  for (guint n = 0; n <= 3; n++)
    {
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (AdjPartition) partition = NULL;
      guint64 lowest = lowest_of_all (joint, n_layers, n);

      options.num_fwd_outputs = 1;
      options.recompute_limit = n / (double) n_layers;
      partition = partition_run ("optimal", joint, &options);
      g_test_message ("%u products: %g MiB, by trying all %g, bound %g, %u plans%s", n,
                      (double) partition->cost.peak / MIB, (double) lowest / MIB,
                      (double) partition->cost.peak_bound / MIB, partition->cost.n_plans,
                      partition->cost.is_optimal ? ", all" : "");
      g_assert_cmpuint (partition->cost.peak, <=, lowest);
      g_assert_cmpfloat (partition->cost.recompute_flops, <=, n * PRODUCT);
      g_assert_cmpuint (partition->cost.peak_bound, <=, partition->cost.peak);
    }
}

/* The least recomputation below a given peak; limits that cannot be met are refused. */
static void
test_memory_limit (void)
{
  g_autoptr (AdjGraph) joint = layers_new (8);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;
  g_autoptr (GError) error = NULL;

  options.num_fwd_outputs = 1;
  options.memory_limit = (guint64) (18 * MIB);
  partition = partition_run ("optimal", joint, &options);
  g_assert_cmpuint (partition->cost.peak, <=, options.memory_limit);
  g_assert_cmpfloat (partition->cost.recompute_flops, <=, PRODUCT);
  options.memory_limit = (guint64) (5 * MIB);
  g_assert_null (adj_partition (adj_partitioner_find ("optimal", NULL), joint, &options, &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_MEMORY);
  g_assert_nonnull (strstr (error->message, "below a peak of 5242880 bytes"));
}

static void
test_pareto (void)
{
  g_autoptr (AdjGraph) joint = layers_new (8);
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) points = NULL;
  guint n_better = 0;

  options.num_fwd_outputs = 1;
  options.effort = 2000;
  points = adj_partition_pareto (
      joint, &(AdjParetoOptions){ .partition = &options, .n_budgets = 5 }, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (points->len, ==, 10);
  for (guint i = 0; i < points->len; i += 2)
    {
      const AdjParetoPoint *theirs = &g_array_index (points, AdjParetoPoint, i);
      const AdjParetoPoint *ours = &g_array_index (points, AdjParetoPoint, i + 1);

      g_test_message ("budget %g: PyTorch %g MiB and %g products, optimal %g and %g",
                      theirs->budget, (double) theirs->peak / MIB,
                      theirs->recompute_flops / PRODUCT, (double) ours->peak / MIB,
                      ours->recompute_flops / PRODUCT);
      g_assert_cmpuint (ours->peak, <=, theirs->peak);
      g_assert_cmpfloat (ours->recompute_flops, <=, theirs->recompute_flops);
      n_better += theirs->is_dominated;
    }
  g_assert_cmpuint (n_better, >=, 4);
}

static void
cancel_at_first (guint done, guint total, gpointer data)
{
  g_assert_cmpuint (total, ==, 10);
  g_assert_cmpuint (done, <, 2);
  if (done == 1)
    g_cancellable_cancel (data);
}

/* Cancels in the middle of a plan that would take minutes. */
static void
test_pareto_stops (void)
{
  g_autoptr (AdjGraph) joint = layers_new (40);
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GError) error = NULL;

  options.num_fwd_outputs = 1;
  options.effort = G_MAXUINT;
  g_assert_null (adj_partition_pareto (
      joint,
      &(AdjParetoOptions){
          .partition = &options, .n_budgets = 5, .progress = cancel_at_first, .data = cancellable },
      cancellable, &error));
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

/* Every plan was tried: the limit is met, or no plan is better. */
static void
test_small (void)
{
  g_autoptr (AdjGraph) joint = golden_parse (
      "p1:64x64 t1:64x64",
      "sin = sin.default(p1); cos = cos.default(sin); exp = exp.default(cos);"
      "mul = mul.Tensor(t1, exp); sin_1 = sin.default(cos); mul_1 = mul.Tensor(mul, sin_1);"
      "mul_2 = mul.Tensor(mul_1, sin); return [exp, mul_2]");
  AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (AdjPartition) partition = NULL;

  options.num_fwd_outputs = 1;
  partition = partition_run ("optimal", joint, &options);
  g_assert_true (partition->cost.is_optimal);
  g_assert_cmpuint (partition->cost.peak_bound, <=, partition->cost.peak);
}

/* Random joint graphs with tags and random operators: if PyTorch's plan is valid, ours has no
 * higher peak and no more flops; if it is not, that is reported. */
static void
test_never_above (void)
{
  guint n_right = 0, n_wrong = 0, n_below = 0;

  for (guint seed = 0; seed < N_RANDOM; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      AdjPartitionOptions options = ADJ_PARTITION_OPTIONS_INIT;
      g_autoptr (GArray) points = NULL;
      guint n_outputs;
      g_autoptr (AdjGraph) joint = adj_test_random_joint (rand, &n_outputs);

      options.num_fwd_outputs = (gint) n_outputs;
      options.effort = 60;
      points = adj_partition_pareto (
          joint, &(AdjParetoOptions){ .partition = &options, .n_budgets = 5 }, NULL, NULL);
      for (guint i = 0; points != NULL && i + 1 < points->len; i++)
        {
          const AdjParetoPoint *theirs = &g_array_index (points, AdjParetoPoint, i);
          const AdjParetoPoint *ours = &g_array_index (points, AdjParetoPoint, i + 1);

          if (!g_str_equal (theirs->partitioner, "min-cut") || theirs->wrong != NULL)
            {
              n_wrong += theirs->wrong != NULL;
              continue;
            }
          g_assert_cmpstr (ours->partitioner, ==, "optimal");
          if (ours->peak > theirs->peak || ours->recompute_flops > theirs->recompute_flops)
            g_error ("joint graph %u at %g: a peak of %" G_GUINT64_FORMAT
                     " and %g flops, PyTorch %" G_GUINT64_FORMAT " and %g",
                     seed, theirs->budget, ours->peak, ours->recompute_flops, theirs->peak,
                     theirs->recompute_flops);
          n_right++;
          n_below += ours->peak < theirs->peak;
        }
    }
  g_test_message ("below in %u of %u points, %u wrong ones left out", n_below, n_right, n_wrong);
  g_assert_cmpuint (n_right, >, 2 * N_RANDOM);
  g_assert_cmpuint (n_wrong, >, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/partition/optimal/budgets-of-eight-layers", test_budgets);
  g_test_add_func ("/partition/optimal/against-trying-all", test_exhaustive);
  g_test_add_func ("/partition/optimal/memory-limit", test_memory_limit);
  g_test_add_func ("/partition/optimal/pareto", test_pareto);
  g_test_add_func ("/partition/optimal/pareto-stops", test_pareto_stops);
  g_test_add_func ("/partition/optimal/never-above-pytorch", test_never_above);
  g_test_add_func ("/partition/optimal/small-is-exact", test_small);
  return g_test_run ();
}
