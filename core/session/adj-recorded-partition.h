/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* The settings of PyTorch when it made the partition that a file records. */

/**
 * adj_recorded_partition_read:
 * @region: (nullable)
 * @options: gets what was recorded; what the file does not say stays, and so does a budget
 *
 * Returns: (transfer full) (nullable): what came from the file and is not usual, "budget 0.5, cse
 *   off"; %NULL: nothing
 */
ADJ_PUBLIC char *adj_recorded_partition_read (const AdjRegion *region,
                                              AdjPartitionOptions *options);
/* (static) (nullable): the partitioner of ours that was used; %NULL: not recorded, or none of
 * ours. */
ADJ_PUBLIC const char *adj_recorded_partitioner (const AdjRegion *region);

G_END_DECLS
