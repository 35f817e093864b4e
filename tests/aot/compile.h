/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"
#include "partition/adj-partition.h"

G_BEGIN_DECLS

/* What a caller gets: @aot with its graph cut in two by the default partitioner, or whole, and run
 * by the interpreter. (transfer full) */
AdjFunction *compile_by_default (AdjAotGraph *aot);
/* The same by the partitioner @name. */
AdjFunction *compile_by (AdjAotGraph *aot, const char *name);
/* The same; @partition: (out) (transfer full): %NULL of an inference graph. */
AdjFunction *compile_and_keep (AdjAotGraph *aot, const char *name, AdjPartition **partition);
AdjFunction *
compile_at_budget (AdjAotGraph *aot, const char *name, double budget, AdjPartition **partition);
/* The joint graph as it is: forwards with tangents of zero, saving copies of its arguments, and
 * again backwards, from the same state of the generator. */
AdjFunction *compile_whole (AdjAotGraph *aot);

G_END_DECLS
