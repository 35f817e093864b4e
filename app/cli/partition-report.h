/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* What `trace` prints of a partition. */
void adj_partition_report_text (const AdjPartition *partition);
/* Adds members to the object that @builder is in. */
void adj_partition_report_json (const AdjPartition *partition, JsonBuilder *builder);

/* Where the node @name went, and why; @partition: (nullable). */
gboolean adj_partition_report_node (const AdjPartition *partition,
                                    const char *name,
                                    gboolean json,
                                    GError **error);

/* Peaks against recomputation; @backward: (nullable): that the file has, for a point of its own. */
gboolean adj_partition_report_pareto (const AdjPartition *partition,
                                      const AdjPartitionOptions *options,
                                      const AdjGraph *backward,
                                      gboolean json,
                                      GError **error);

G_END_DECLS
