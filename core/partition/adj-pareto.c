/* SPDX-License-Identifier: MIT */
/* Partitions at many budgets: bytes saved and work repeated by each, and which are dominated. */

#include "partition/adj-pareto.h"

#include <gio/gio.h>

#include "ir/adj-graph.h"
#include "partition/partitioners-private.h"

static AdjParetoPoint
point_of (const AdjPartition *partition, double budget)
{
  return (AdjParetoPoint){
    .partitioner = partition->partitioner,
    .budget = budget,
    .peak = partition->cost.peak,
    .saved_bytes = partition->saved_bytes,
    .recompute_flops = partition->cost.recompute_flops,
    .recompute_traffic = partition->cost.recompute_traffic,
    .wrong = partition_find_wrong (partition),
  };
}

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
  point = point_of (partition, options->budget);
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
      items[i].is_dominated = items[k].wrong == NULL && is_better (&items[k], &items[i]);
}

static void
report (const AdjParetoOptions *options, guint done)
{
  if (options->progress != NULL)
    options->progress (done, 2 * options->n_budgets, options->data);
}

GArray *
adj_partition_pareto (AdjGraph *joint,
                      const AdjParetoOptions *options,
                      GCancellable *cancellable,
                      GError **error)
{
  AdjPartitionOptions at = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (GArray) points = g_array_new (FALSE, FALSE, sizeof (AdjParetoPoint));
  g_autoptr (GError) failure = NULL;
  guint n = options->n_budgets;

  g_return_val_if_fail (n >= 2, NULL);

  if (options->partition != NULL)
    at = *options->partition;
  at.cancellable = cancellable;
  for (guint i = 0; i < n && !g_cancellable_is_cancelled (cancellable); i++)
    {
      report (options, 2 * i);
      g_clear_error (&failure);
      at.budget = (double) i / (n - 1);
      at.compat = TRUE;
      if (!add_point (points, "min-cut", joint, &at, &failure))
        continue;
      report (options, 2 * i + 1);
      at.compat = FALSE;
      add_point (points, "optimal", joint, &at, NULL);
    }
  if (g_cancellable_set_error_if_cancelled (cancellable, error))
    return NULL;
  report (options, 2 * n);
  if (points->len == 0)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return NULL;
    }
  mark_dominated (points);
  return g_steal_pointer (&points);
}

/* Saves every input of @backward except tangents and nodes that were merged into another one. */
static void
save_inputs (Plan *plan, const AdjGraph *backward)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *known = g_new0 (guint8, joint->n);

  for (guint i = 0; i < adj_graph_get_n_nodes (backward); i++)
    {
      const AdjNode *node = adj_graph_get_node (backward, i);
      AdjNodeId id = node->opcode == ADJ_OPCODE_PLACEHOLDER
                         ? adj_graph_find_node (joint->graph, node->name)
                         : ADJ_NO_NODE;
      guint32 saved = adj_node_id_is_valid (id) ? joint->rep[id.index] : NOBODY;

      if (saved == NOBODY || joint->gone[saved] || known[saved] ||
          joint->kind[saved] == NODE_TANGENT || joint->kind[saved] == NODE_BACKWARD_RNG)
        continue;
      known[saved] = TRUE;
      plan_save (plan, saved);
    }
}

gboolean
adj_partition_measure (AdjGraph *joint,
                       const AdjGraph *backward,
                       const AdjPartitionOptions *options,
                       AdjParetoPoint *point,
                       GError **error)
{
  const AdjPartitionOptions defaults = ADJ_PARTITION_OPTIONS_INIT;
  g_autoptr (Joint) nodes = NULL;
  g_autoptr (Plan) plan = NULL;
  g_autoptr (AdjPartition) partition = NULL;

  g_return_val_if_fail (joint != NULL && backward != NULL && point != NULL, FALSE);

  options = options != NULL ? options : &defaults;
  nodes = joint_new (joint, options, error);
  if (nodes == NULL)
    return FALSE;
  plan = plan_new (nodes, options, "pair");
  save_inputs (plan, backward);
  if (!plan_complete (plan, error))
    return FALSE;
  partition = plan_emit (plan, error);
  if (partition != NULL)
    *point = point_of (partition, NAN);
  return partition != NULL;
}
