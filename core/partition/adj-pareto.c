/* SPDX-License-Identifier: MIT */
#include "partition/adj-pareto.h"

static gboolean
add_point (GArray *points,
           const char *partitioner,
           AdjGraph *joint,
           const AdjPartitionOptions *options,
           GError **error)
{
  g_autoptr (AdjPartition) partition =
      adj_partition (adj_partitioner_find (partitioner, NULL), joint, options, error);
  AdjParetoPoint point;

  if (partition == NULL)
    return FALSE;
  point = (AdjParetoPoint){
    .partitioner = partition->partitioner,
    .budget = options->budget,
    .peak = partition->cost.peak,
    .saved_bytes = partition->saved_bytes,
    .recompute_flops = partition->cost.recompute_flops,
    .recompute_traffic = partition->cost.recompute_traffic,
  };
  g_array_append_val (points, point);
  return TRUE;
}

static gboolean
is_better (const AdjParetoPoint *a, const AdjParetoPoint *b)
{
  return a->peak <= b->peak && a->recompute_flops <= b->recompute_flops &&
         (a->peak < b->peak || a->recompute_flops < b->recompute_flops);
}

static void
mark_dominated (GArray *points)
{
  AdjParetoPoint *items = (AdjParetoPoint *) (gpointer) points->data;

  for (guint i = 0; i < points->len; i++)
    for (guint k = 0; k < points->len && !items[i].is_dominated; k++)
      items[i].is_dominated = is_better (&items[k], &items[i]);
}

GArray *
adj_partition_pareto (AdjGraph *joint,
                      const AdjPartitionOptions *options,
                      guint n_budgets,
                      GCancellable *cancellable,
                      GError **error)
{
  AdjPartitionOptions at = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (AdjParetoPoint));
  g_autoptr (GError) failure = NULL;

  g_return_val_if_fail (n_budgets >= 2, NULL);

  if (options != NULL)
    at = *options;
  for (guint i = 0; i < n_budgets; i++)
    {
      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return NULL;
      g_clear_error (&failure);
      at.budget = (double) i / (n_budgets - 1);
      at.compat = TRUE;
      if (!add_point (points, "min-cut", joint, &at, &failure))
        continue;
      at.compat = FALSE;
      add_point (points, "optimal", joint, &at, NULL);
    }
  if (points->len == 0)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return NULL;
    }
  mark_dominated (points);
  return g_steal_pointer (&points);
}
