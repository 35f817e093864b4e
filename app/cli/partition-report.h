/* SPDX-License-Identifier: MIT */
#pragma once

#include "adj-command.h"

G_BEGIN_DECLS

/* Prints a partition, for `trace`. */
void adj_partition_report_text (const AdjPartition *partition);
/* Adds members to the object that @builder is in. */
void adj_partition_report_json (const AdjPartition *partition, JsonBuilder *builder);

/* Explains where the node @name went, and why; @partition: (nullable). */
gboolean adj_partition_report_node (const AdjPartition *partition,
                                    const char *name,
                                    gboolean json,
                                    GError **error);

/* Prints peaks against recomputation; @backward: (nullable): the file's own, which becomes another
 * point. */
gboolean adj_partition_report_pareto (const AdjPartition *partition,
                                      const AdjPartitionOptions *options,
                                      const AdjGraph *backward,
                                      gboolean json,
                                      GError **error);

G_END_DECLS
