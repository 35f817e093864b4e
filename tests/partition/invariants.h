/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition-test.h"

G_BEGIN_DECLS

/* The invariants of partitioner §6 by their numbers; each asserts.  Those that speak of a budget of
 * 1 are left out when @options has another. */
void invariants_check (const AdjPartition *partition, const AdjPartitionOptions *options);

G_END_DECLS
