/* SPDX-License-Identifier: MIT */
/* The table of partitioners, and running one with its result verified. */

#include "partition/adj-partition.h"

#include <gio/gio.h>
#include <math.h>

#include "base/adj-names-internal.h"
#include "ir/adj-graph.h"
#include "partition/partitioners-private.h"
#include "passes/adj-effects.h"

typedef Plan *(*Planner) (const Joint *joint, const AdjPartitionOptions *options, GError **error);

static AdjPartition *
run_planner (Joint *joint, const AdjPartitionOptions *options, Planner planner, GError **error)
{
  g_autoptr (Plan) plan = NULL;

  if (g_cancellable_set_error_if_cancelled (options->cancellable, error))
    return NULL;
  plan = planner (joint, options, error);
  if (plan == NULL || !plan_complete (plan, error) ||
      g_cancellable_set_error_if_cancelled (options->cancellable, error))
    return NULL;
  return plan_emit (plan, error);
}

static AdjPartition *
run_min_cut (AdjGraph *graph, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Joint) joint = joint_new (graph, options, error);

  return joint != NULL ? run_planner (joint, options, min_cut_plan, error) : NULL;
}

/* The partitioner "default", without cse.  If the graph has recompute tags, min-cut decides, as in
 * PyTorch. */
static AdjPartition *
run_default (AdjGraph *graph, const AdjPartitionOptions *options, GError **error)
{
  AdjPartitionOptions as_it_is = *options;
  g_autoptr (Joint) joint = NULL;

  as_it_is.no_cse = TRUE;
  joint = joint_new (graph, &as_it_is, error);
  if (joint == NULL)
    return NULL;
  if (joint->has_tags)
    return run_min_cut (graph, options, error);
  return run_planner (joint, &as_it_is, default_plan, error);
}

static AdjPartition *
run_optimal (AdjGraph *graph, const AdjPartitionOptions *options, GError **error)
{
  g_autoptr (Joint) joint = joint_new (graph, options, error);

  return joint != NULL ? run_planner (joint, options, optimal_plan, error) : NULL;
}

static const AdjPartitioner partitioners[] = {
  { .name = "default",
    .summary = "Save what backward reads",
    .explain = "Forward stays as it is, and every value of it that backward reads is saved.  Of a "
               "tensor of which backward only reads sizes, the sizes are saved.  Graphs with tags "
               "for recomputation go to `min-cut`.",
    .run = run_default },
  { .name = "min-cut",
    .summary = "Save what is cheapest to save, recompute what is cheap to recompute",
    .explain = "Each value has a price for being saved: its bytes, more the farther backward is, "
               "twice if it would be fused away.  Rules ban what is expensive to repeat.  The "
               "cheapest cut between what forward has and what backward wants is saved; what lies "
               "behind it is computed again.  With a budget below 1, a knapsack decides which "
               "expensive values are repeated too.",
    .run = run_min_cut },
  { .name = "optimal",
    .summary = "The lowest peak of memory for what min-cut recomputes, or the least recomputation "
               "below a peak",
    .explain =
        "Looks at the memory that both graphs need at their worst moment, not at saved bytes. "
        " It recomputes at most what `min-cut` would under the same budget, or the share of "
        "forward that was asked for; or, with a memory limit, as little as fits.  Small "
        "graphs are searched exhaustively; for others the result names a bound that no plan "
        "can beat.",
    .run = run_optimal },
};

guint
adj_partitioners_get_n (void)
{
  return G_N_ELEMENTS (partitioners);
}

const AdjPartitioner *
adj_partitioners_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (partitioners), NULL);

  return &partitioners[index];
}

static const char *
name_of (guint i)
{
  return partitioners[i].name;
}

const AdjPartitioner *
adj_partitioner_find (const char *name, GError **error)
{
  gint i = adj_names_find ("partitioner", name_of, G_N_ELEMENTS (partitioners), name, error);

  return i >= 0 ? &partitioners[i] : NULL;
}

/* Whether @part has the effects of one direction of @joint, in their order. */
static gboolean
has_effects_of (const AdjGraph *part, const AdjGraph *joint, gboolean backward, GError **error)
{
  g_autofree char *wanted = adj_graph_print_effects (joint, backward);
  g_autofree char *forwards = adj_graph_print_effects (part, FALSE);
  g_autofree char *backwards = adj_graph_print_effects (part, TRUE);
  g_autofree char *all = g_strconcat (forwards, backwards, NULL);

  if (g_str_equal (all, wanted))
    return adj_graph_verify_tokens (part, error);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_VERIFY,
               "the %s has other effects than the joint graph, or in another order:\n%sand not\n%s",
               backward ? "backward" : "forward", all, wanted);
  return FALSE;
}

/* Takes @partition (nullable). */
static AdjPartition *
verified (AdjPartition *partition, const AdjPartitionOptions *options, GError **error)
{
  if (partition != NULL && (!has_effects_of (partition->forward, partition->joint, FALSE, error) ||
                            !has_effects_of (partition->backward, partition->joint, TRUE, error)))
    g_clear_pointer (&partition, adj_partition_unref);
#ifndef NDEBUG
  if (partition != NULL && !partition_verify (partition, options, error))
    g_clear_pointer (&partition, adj_partition_unref);
#endif
  return partition;
}

static gboolean
is_budget (double budget, GError **error)
{
  if (isnan (budget) || (budget >= 0 && budget <= 1))
    return TRUE;
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT, "a budget is a fraction from 0 to 1, not %g",
               budget);
  return FALSE;
}

AdjPartition *
adj_partition (const AdjPartitioner *partitioner,
               AdjGraph *joint,
               const AdjPartitionOptions *options,
               GError **error)
{
  const AdjPartitionOptions defaults = ADJ_PARTITION_OPTIONS_INIT;

  g_return_val_if_fail (partitioner != NULL && joint != NULL, NULL);

  if (options == NULL)
    options = &defaults;
  if (!is_budget (options->budget, error) || !is_budget (options->usual_budget, error))
    return NULL;
  return verified (partitioner->run (joint, options, error), options, error);
}

AdjPartition *
adj_partition_ref (AdjPartition *partition)
{
  g_atomic_ref_count_inc (&partition->refs);
  return partition;
}

void
adj_partition_unref (AdjPartition *partition)
{
  if (!g_atomic_ref_count_dec (&partition->refs))
    return;
  adj_graph_unref (partition->joint);
  adj_graph_unref (partition->forward);
  adj_graph_unref (partition->backward);
  g_free (partition->saved);
  g_free (partition->nodes);
  adj_partition_cost_clear (&partition->cost);
  g_free (partition);
}
