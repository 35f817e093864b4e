/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/adj-partition.h"
#include "passes/adj-pass.h"

G_BEGIN_DECLS

/**
 * adj_partition_tag:
 * @joint: sealed
 * @result: (out caller-allocates): cleared with adj_pass_result_clear(); its graph is %NULL if no
 *   node has a tag
 *
 * Makes the graph whose tags for recomputation are those that a partitioner goes by: the tags of
 * @joint, the demands of @options and the rules of partition/SPEC.md §2.3.  Nodes keep their
 * numbers; each tagged one has a note with its tag and the reason.
 *
 * Returns: %FALSE with an error of adj_partition()
 */
gboolean adj_partition_tag (AdjGraph *joint,
                            const AdjPartitionOptions *options,
                            AdjPassResult *result,
                            GError **error);

G_END_DECLS
