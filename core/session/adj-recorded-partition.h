/* SPDX-License-Identifier: MIT */
#pragma once

#include "formats/adj-bundle.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* The settings of PyTorch when it made the partition that a file records. */

/**
 * adj_recorded_partition_read:
 * @region: (nullable)
 * @options: gets the recorded options; those not in the file stay as they are, and so does a budget
 *
 * Returns: (transfer full) (nullable): the recorded options that are not defaults, "budget 0.5, cse
 *   off"; %NULL: nothing
 */
ADJ_PUBLIC char *adj_recorded_partition_read (const AdjRegion *region,
                                              AdjPartitionOptions *options);
/* (static) (nullable): our name of the partitioner that was used; %NULL: not recorded, or not one
 * of ours. */
ADJ_PUBLIC const char *adj_recorded_partitioner (const AdjRegion *region);

G_END_DECLS
