/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/plan-private.h"

G_BEGIN_DECLS

/* What the rows of the table of partitioners run.  Plans are not complete yet. */
Plan *default_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error);
Plan *min_cut_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error);
Plan *optimal_plan (const Joint *joint, const AdjPartitionOptions *options, GError **error);

/* What `optimal` chooses among: one node for each storage that may be saved or not, as guint32
 * (transfer full).  @fixed, by node, gets those that are saved anyhow. */
GArray *candidates_new (const Joint *joint, guint8 *fixed);

/* The budget of the options, or else of the first node of @joint that has one. */
double budget_wanted (const AdjGraph *joint, const AdjPartitionOptions *options);
/* The cut for the budget of the options (partition/SPEC.md §3.5). */
gboolean budget_choose (Plan *plan, GError **error);

/* (static) (nullable): in what @partition, made as PyTorch makes it, is another program than its
 * joint graph, or recomputes what must be saved; %NULL: it is right. */
const char *partition_find_wrong (const AdjPartition *partition);

/* Debug builds do so after every partition.  ADJ_ERROR_VERIFY names the invariant and the node. */
gboolean partition_verify (const AdjPartition *partition,
                           const AdjPartitionOptions *options,
                           GError **error);

G_END_DECLS
