/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/plan-private.h"

G_BEGIN_DECLS

/* The functions of the partitioner table.  They return incomplete plans. */
Plan *default_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error);
Plan *min_cut_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error);
Plan *optimal_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error);

/* The candidates of `optimal`: one node for each storage that may be saved or not, as guint32
 * (transfer full).  @fixed, by node: set for those that are always saved. */
GArray *candidates_new (const Joint *joint, guint8 *fixed);

/* The budget of the options, or else of the first node of @joint that has one. */
double budget_wanted (const AdjGraph *joint, const AdjPartitionOptions *options);
/* Takes the cut for the budget of the options (partition/SPEC.md §3.5). */
gboolean budget_choose (Plan *plan, GError **error);

/* (static) (nullable): how @partition, made as PyTorch makes it, differs from its joint graph, or
 * that it recomputes a must-save value; %NULL: it is correct. */
const char *partition_find_wrong (const AdjPartition *partition);

/* Debug builds call it after every partition.  ADJ_ERROR_VERIFY names the invariant and the node.
 */
gboolean partition_verify (const AdjPartition *partition,
                           const AdjPartitionOptions *options,
                           GError **error);

G_END_DECLS
