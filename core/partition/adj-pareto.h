/* SPDX-License-Identifier: MIT */
#pragma once

#include "base/adj-cancellable.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* One plan on the plane of memory and recomputation. */
typedef struct
{
  const char *partitioner; /* "min-cut" as PyTorch decides, or "optimal" */
  double budget; /* of min-cut: the budget of this plan; of optimal: the budget whose min-cut plan
                    sets the limit of recomputation */
  guint64 peak;
  guint64 saved_bytes;
  double recompute_flops;
  guint64 recompute_traffic;
  const char *wrong; /* (static) (nullable): why this plan computes something else than the joint
                        graph: "A random operator is repeated with other numbers" */
  gboolean is_dominated; /* a correct plan is no worse in peak and flops, and better in one */
} AdjParetoPoint;

typedef struct
{
  const AdjPartitionOptions
      *partition;  /* (nullable): budget, compat and cancellable are set here */
  guint n_budgets; /* from 0 to 1; at least 2 */
  /* (nullable) Called before each plan, and once at the end with @done == @total. */
  void (*progress) (guint done, guint total, gpointer data);
  gpointer data;
} AdjParetoOptions;

/**
 * adj_partition_pareto:
 *
 * PyTorch's plan at every budget, and for each the plan with the lowest peak that recomputes no
 * more; where PyTorch's plan is not correct, no more than a correct min-cut plan.  A budget without
 * a plan has no point.
 *
 * Returns: (transfer full) (nullable) (element-type AdjParetoPoint): by budget, PyTorch's first;
 *   %NULL with the error of the last failure when there is none, or G_IO_ERROR_CANCELLED
 */
ADJ_PUBLIC GArray *adj_partition_pareto (AdjGraph *joint,
                                         const AdjParetoOptions *options,
                                         GCancellable *cancellable,
                                         GError **error);

/**
 * adj_partition_measure:
 * @backward: a backward graph made from @joint; its inputs have the names of @joint
 * @options: (nullable)
 * @point: (out): the same measure for the plan that saves the inputs of @backward; its partitioner
 * is "pair", its budget not a number
 *
 * Returns: %FALSE with the errors of adj_partition()
 */
ADJ_PUBLIC gboolean adj_partition_measure (AdjGraph *joint,
                                           const AdjGraph *backward,
                                           const AdjPartitionOptions *options,
                                           AdjParetoPoint *point,
                                           GError **error);

G_END_DECLS
