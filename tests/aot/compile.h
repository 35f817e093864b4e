/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* (transfer full): a function that runs @aot in the interpreter, a joint graph cut in two by the
 * default partitioner. */
AdjFunction *compile_by_default (AdjAotGraph *aot);
/* Like compile_by_default(), with the partitioner @name. */
AdjFunction *compile_by (AdjAotGraph *aot, const char *name);
/* Like compile_by(). @partition: (out) (transfer full): %NULL for an inference graph. */
AdjFunction *compile_and_keep (AdjAotGraph *aot, const char *name, AdjPartition **partition);
AdjFunction *
compile_at_budget (AdjAotGraph *aot, const char *name, double budget, AdjPartition **partition);
/* Runs the uncut joint graph in both directions: the forward uses tangents of zero and saves
 * copies of its arguments; the backward runs the graph again from the same generator state. */
AdjFunction *compile_whole (AdjAotGraph *aot);

G_END_DECLS
