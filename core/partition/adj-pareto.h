/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* One plan on the plane of memory and recomputation. */
typedef struct
{
  const char *partitioner; /* "min-cut" as PyTorch decides, or "optimal" */
  double budget;           /* that gave it, or whose recomputation it may not exceed */
  guint64 peak;
  guint64 saved_bytes;
  double recompute_flops;
  guint64 recompute_traffic;
  gboolean is_dominated; /* another one is no worse in peak and flops, and better in one */
} AdjParetoPoint;

/**
 * adj_partition_pareto:
 * @options: (nullable): budget and compat are set here
 * @n_budgets: how many budgets from 0 to 1; at least 2
 *
 * PyTorch's plan at every budget, and for each the plan with the lowest peak that recomputes no
 * more.  A budget without a plan has no point.
 *
 * Returns: (transfer full) (nullable) (element-type AdjParetoPoint): by budget, PyTorch's first;
 *   %NULL with the error of the last failure when there is none, or G_IO_ERROR_CANCELLED
 */
ADJ_PUBLIC GArray *adj_partition_pareto (AdjGraph *joint,
                                         const AdjPartitionOptions *options,
                                         guint n_budgets,
                                         GCancellable *cancellable,
                                         GError **error);

G_END_DECLS
