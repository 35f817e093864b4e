/* SPDX-License-Identifier: MIT */
#pragma once

#include "partition/op-traits-private.h"
#include "passes/adj-finding.h"

G_BEGIN_DECLS

/* Reads a partitioned pair; nodes of equal name are the same value. */

/* The call named @name in @graph (nullable); %NULL: none. */
const AdjNode *pair_find_call (AdjGraph *graph, const char *name);
/* Whether @node draws from the generator when it runs. */
gboolean pair_draws (const AdjNode *node);
/* The nodes that @region's forward saves, as AdjNodeId; empty if unknown. (transfer full) */
GArray *pair_list_saved (const AdjCheckedRegion *region);

/* Adds a finding on one node. */
void pair_report (const AdjCheck *check,
                  AdjSeverity severity,
                  AdjGraph *graph,
                  guint node,
                  AdjFindings *findings,
                  const char *format,
                  ...) G_GNUC_PRINTF (6, 7);

G_END_DECLS
