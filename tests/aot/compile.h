/* SPDX-License-Identifier: MIT */
#pragma once

#include "aot/adj-aot.h"

G_BEGIN_DECLS

/* What a caller gets: @aot with its graph cut in two by the default partitioner, or whole, and run
 * by the interpreter. (transfer full) */
AdjFunction *compile_by_default (AdjAotGraph *aot);
/* The same by the partitioner @name. */
AdjFunction *compile_by (AdjAotGraph *aot, const char *name);

G_END_DECLS
